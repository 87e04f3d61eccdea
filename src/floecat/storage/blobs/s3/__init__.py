"""BlobStore in an S3 bucket, or one that speaks like it. Needs `obstore` and `boto3`."""

from floecat.storage.blobs.s3.store import S3BlobStore, S3Options

__all__ = ["S3BlobStore", "S3Options"]
