"""Resources by id: reading them typed, and the operations that write them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import uuid4

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.common.common_pb2 import MutationMeta
from floecat.catalog import keys
from floecat.catalog.callers import not_found
from floecat.catalog.codec import Codec, Stored, etag_of
from floecat.catalog.contents import Contents, Rows
from floecat.catalog.kinds import Kind
from floecat.catalog.recall import Recall
from floecat.clock import Clock, utc_now
from floecat.storage.blobs.port import BlobStore
from floecat.storage.kv.port import ABSENT, Key, KeyValueStore, Put, Record

M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class CatalogStores:
    """The ports the repositories of this room work on."""

    kv: KeyValueStore
    blobs: BlobStore
    clock: Clock = utc_now

    @property
    def codec(self) -> Codec:
        return Codec(self.blobs)

    def now(self) -> Timestamp:
        """The time as messages carry it."""
        stamp = Timestamp()
        stamp.FromDatetime(self.clock())
        return stamp


def new_id() -> str:
    """A fresh resource id."""
    return str(uuid4())


def first_meta(message: Message, now: Timestamp) -> MutationMeta:
    """The meta of a record that is created."""
    return MutationMeta(version=1, etag=etag_of(message), created_at=now, updated_at=now)


def next_meta(meta: MutationMeta, message: Message, now: Timestamp) -> MutationMeta:
    """The meta of a record that is written again."""
    return MutationMeta(
        version=meta.version + 1,
        etag=etag_of(message),
        created_at=meta.created_at,
        updated_at=now,
    )


class Records(Generic[M]):
    """The resources of one kind."""

    def __init__(self, stores: CatalogStores, kind: Kind, message_type: type[M]) -> None:
        self._kv = stores.kv
        self._codec = stores.codec
        self._contents = Contents(self._codec.read)
        self._recall = Recall(self._codec, message_type)
        self._type = message_type
        self.kind = kind

    def find(self, account: str, resource_id: str) -> Stored[M] | None:
        """The resource, also while it is being deleted. It is shared: copy it to change it."""
        record = self._kv.get(keys.resource(account, self.kind, resource_id))
        return None if record is None else self._recall.decoded(record)

    def find_live(self, account: str, ids: Sequence[str]) -> list[M | None]:
        """One resource per id, in order; None for what doesn't exist or is being deleted."""
        records = self._kv.get_many(keys.resources(account, self.kind, ids))
        return [self._codec.decode_live(r, self._type) if r else None for r in records]

    def find_contents(self, account: str, ids: Sequence[str]) -> list[bytes]:
        """The same still serialized, empty for what isn't live; up to what fits an answer."""
        return self._contents.live(self._kv.get_many(keys.resources(account, self.kind, ids)))

    def find_rows(self, account: str, names: Sequence[Record], appended: bytes) -> Rows:
        """What a page of names leads to, as an answer carries it, with something for each row."""
        ids = tuple([name.value for name in names])
        records = self._kv.get_many(keys.named_resources(account, self.kind, ids))
        return self._contents.rows(records, appended)

    def find_named(self, account: str, partition: str, name: str) -> Stored[M] | None:
        """The resource that has a name in a partition, unless it is being deleted."""
        record = self._kv.get(Key(partition, name))
        stored = self.find(account, record.value.decode()) if record else None
        return None if stored is None or stored.deleting else stored

    def get(self, account: str, resource_id: str) -> Stored[M]:
        """The resource, unless it doesn't exist or is being deleted."""
        stored = self.find(account, resource_id)
        if stored is None or stored.deleting:
            raise not_found(self.kind, resource_id)
        return stored

    def insert(self, account: str, resource_id: str, message: M, meta: MutationMeta) -> Put:
        """Write a resource that isn't there yet."""
        value = self._codec.encode(account, message, meta)
        return Put(keys.resource(account, self.kind, resource_id), value, ABSENT)

    def replace(self, account: str, stored: Stored[M], message: M, meta: MutationMeta) -> Put:
        """Write a resource again, if it is still as it was read."""
        return self._put(account, stored, message, meta, deleting=False)

    def mark_deleting(self, account: str, stored: Stored[M]) -> Put:
        """Hide a resource from everyone until the sweep removes it."""
        return self._put(account, stored, stored.message, stored.meta, deleting=True)

    def _put(
        self, account: str, stored: Stored[M], message: M, meta: MutationMeta, *, deleting: bool
    ) -> Put:
        identifier: str = message.resource_id.id  # type: ignore[attr-defined]  # every kind has one
        value = self._codec.encode(account, message, meta, deleting=deleting)
        return Put(keys.resource(account, self.kind, identifier), value, stored.version)
