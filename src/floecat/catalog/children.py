"""Rules over sets of children: a parent exists while it has some, and names are taken once.

Scans aren't snapshots, so a rule over a set needs a row that both sides write: adding a child
writes one of its parent's guards, removing the parent expects all of them as they were before it
looked.
"""

from collections.abc import Sequence

from floecat.catalog import keys
from floecat.catalog.kinds import Kind
from floecat.catalog.paging import Page, PageCursor
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    Check,
    Delete,
    Key,
    KeyValueStore,
    Operation,
    Put,
    Record,
)


def adopted(
    account: str, parent: tuple[Kind, str, int], child_id: str
) -> tuple[Operation, Operation]:
    """Add a child to a parent (its kind, id and version) that must still be as it was read."""
    kind, parent_id, version = parent
    return (
        Check(keys.resource(account, kind, parent_id), version),
        Put(keys.guard(account, parent_id, child_id), b"", ANY),
    )


def find_childless(
    kv: KeyValueStore, account: str, parent_id: str, partitions: Sequence[str]
) -> tuple[Operation, ...] | None:
    """What a parent's removal must commit so that no child comes between; None if it has any."""
    guards = kv.get_many(keys.guards(account, parent_id))
    if any(kv.scan(partition, limit=1) for partition in partitions):
        return None
    return tuple(
        Check(key, ABSENT) if guard is None else Delete(key, guard.version)
        for key, guard in zip(keys.guards(account, parent_id), guards, strict=True)
    )


def claimed(partition: str, name: str, child_id: str) -> Put:
    """Take a name that must be free."""
    return Put(Key(partition, name), child_id.encode(), ABSENT)


def released(partition: str, name: str) -> Delete:
    """Give a name back. The commit expects its owner's record, so this expects nothing."""
    return Delete(Key(partition, name), ANY)


def list_names(kv: KeyValueStore, partition: str, prefix: str, cursor: PageCursor) -> Page[Record]:
    """A page of children's names, each with the child's id as its value."""
    records = kv.scan(partition, prefix, after=cursor.after, limit=cursor.size + 1)
    shown = records[: cursor.size]
    more = len(records) > cursor.size
    return Page(shown, cursor.token(shown[-1].key.sort) if more else "")
