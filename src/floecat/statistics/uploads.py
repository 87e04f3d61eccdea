"""Records that come as a stream: of one table and snapshot, visible all at once or not at all."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from google.protobuf.message import Message

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import MutationMeta, ResourceId
from floecat.catalog import keys
from floecat.catalog.callers import Caller
from floecat.catalog.codec import serialized
from floecat.catalog.mutations import Change, Mutations
from floecat.catalog.records import CatalogStores
from floecat.catalog.replay import MutationRequest, is_remembered
from floecat.catalog.tables import TableRepository, addressed_table
from floecat.errors import FloecatError, InvalidArgumentError
from floecat.statistics.store import PreparedPut, SnapshotPlace
from floecat.storage.kv.port import Check

R_co = TypeVar("R_co", bound=Message, covariant=True)
R = TypeVar("R", bound=Message)
Response = TypeVar("Response", bound=Message)

Prepare = Callable[[SnapshotPlace, Iterable[R]], Callable[[], PreparedPut]]
"""Writes records where nobody sees them; the result lays them over what is there then."""


class PutRequest(MutationRequest, Protocol[R_co]):
    """A message of such a stream."""

    @property
    def table_id(self) -> ResourceId: ...
    @property
    def snapshot_id(self) -> int: ...
    @property
    def records(self) -> Sequence[R_co]: ...
    @property
    def last(self) -> bool: ...


class RecordUploads(Generic[R, Response]):
    """Takes streams of records."""

    def __init__(
        self, stores: CatalogStores, prepare: Prepare[R], response_type: type[Response]
    ) -> None:
        self._prepare = prepare
        self._stores = stores
        self._response_type = response_type
        self._tables = TableRepository(stores)
        self._mutations = Mutations(stores)

    def write(self, caller: Caller, messages: Iterator[PutRequest[R]]) -> Response:
        """Keep what the messages bring. Under a key the stream's hash stands for its records."""
        first = next(messages, None)
        if first is None:
            raise InvalidArgumentError("the stream is empty: its first message says what it is of")
        table_id = addressed_table(caller, first.table_id)
        self._require_table(caller, first)
        place = SnapshotPlace(caller.account_id, table_id, first.snapshot_id)
        received = _Received(caller, first, messages)
        prepared = self._prepare(place, received)
        if not received.count:
            raise InvalidArgumentError("the stream brings no records", field="records")

        def change() -> Change[Response]:
            table = self._tables.get(caller, first.table_id)
            laid = prepared()
            parent = keys.resource(caller.account_id, common_pb2.RK_TABLE, table_id)
            return Change(
                (*laid.operations, Check(parent, table.version)),
                self._response(received.count, laid.meta),
            )

        return self._mutations.run(caller, received.as_one(), self._response_type, change)

    def _response(self, count: int, meta: MutationMeta) -> Response:
        return self._response_type(records_written=count, meta=meta)

    def _require_table(self, caller: Caller, first: PutRequest[R]) -> None:
        """Refuse before anything is kept; but under a key an earlier answer counts."""
        try:
            self._tables.get(caller, first.table_id)
        except FloecatError:
            if not is_remembered(self._stores, caller, first):
                raise


class _Received(Generic[R]):
    """The records of a stream, counted and hashed as they are gone through."""

    def __init__(self, caller: Caller, first: PutRequest[R], rest: Iterator[PutRequest[R]]) -> None:
        self._caller = caller
        self._first = first
        self._rest = rest
        self._digest = hashlib.sha256()
        self.count = 0

    def __iter__(self) -> Iterator[R]:
        yield from self._records(self._first)
        for message in self._rest:
            self._caller.asker.require_waiting()
            if message.last and not message.records:
                continue
            same_table = message.table_id == self._first.table_id
            if not same_table or message.snapshot_id != self._first.snapshot_id:
                raise InvalidArgumentError(
                    "a stream is of one table and one snapshot: write others in streams of theirs",
                    field="table_id" if not same_table else "snapshot_id",
                )
            yield from self._records(message)

    def _records(self, message: PutRequest[R]) -> Iterator[R]:
        for record in message.records:
            content = serialized(record)
            self._digest.update(len(content).to_bytes(8, "big") + content)
            self.count += 1
            yield record

    def as_one(self) -> MutationRequest:
        """What the whole stream asked for, however it was cut."""
        first: Any = self._first
        request: Any = type(first)()
        request.CopyFrom(first)
        request.ClearField("records")
        request.ClearField("last")
        request.ClearField("says_last")
        request.records.add().properties["sha256"] = self._digest.hexdigest()
        whole: MutationRequest = request
        return whole
