"""Moving blobs to another store: records name them by URI, so the records have to follow."""

from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.catalog.references import with_references
from floecat.errors import ConflictError
from floecat.storage.kv.port import KeyValueStore, Put


def relocate_blobs(kv: KeyValueStore, old_base: str, new_base: str) -> int:
    """Make every reference below `old_base` one below `new_base`; how many records changed.

    Restartable. Content, versions and etags that clients know stay as they are.
    """

    def moved(reference: BlobReference) -> BlobReference:
        name = reference.uri.removeprefix(old_base)
        uri = reference.uri if name == reference.uri else new_base + name
        return BlobReference(uri=uri, sha256=reference.sha256, size_bytes=reference.size_bytes)

    changed = 0
    for record in kv.dump():
        value = with_references(record, moved)
        if value is None or value == record.value:
            continue
        try:
            kv.commit([Put(record.key, value, record.version, record.expires_at)])
        except ConflictError:
            # Nobody else may write while blobs move, but an answer may expire meanwhile.
            continue
        changed += 1
    return changed
