"""BlobStore in a folder, which several processes may share."""

from floecat.storage.blobs.filesystem.store import FilesystemBlobStore

__all__ = ["FilesystemBlobStore"]
