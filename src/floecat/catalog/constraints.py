"""Constraints of a table: one bundle per snapshot, always written whole."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from google.protobuf.message import Message

from ai.floedb.floecat.catalog.constraints_pb2 import (
    AddTableConstraintRequest,
    AddTableConstraintResponse,
    AppendTableConstraintsRequest,
    AppendTableConstraintsResponse,
    DeleteTableConstraintRequest,
    DeleteTableConstraintResponse,
    DeleteTableConstraintsRequest,
    DeleteTableConstraintsResponse,
    ListTableConstraintsRequest,
    MergeTableConstraintsRequest,
    MergeTableConstraintsResponse,
    PutTableConstraintsRequest,
    PutTableConstraintsResponse,
    TableConstraints,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import MutationMeta, ResourceId, SnapshotRef
from floecat.catalog import keys
from floecat.catalog.bundles import appended, checked, merged, without
from floecat.catalog.callers import Caller, named_id
from floecat.catalog.codec import Stored
from floecat.catalog.mutations import Change, Mutations, check_precondition
from floecat.catalog.names import cleaned_name
from floecat.catalog.paging import Page, first_fitting, page_cursor
from floecat.catalog.records import CatalogStores, first_meta, next_meta
from floecat.catalog.resources import GuardedRequest
from floecat.catalog.snapshots import SnapshotRepository
from floecat.catalog.tables import TableRepository
from floecat.catalog.timeline import moment_of
from floecat.errors import NotFoundError
from floecat.storage.kv.port import ABSENT, Check, Delete, Key, Put

Response = TypeVar("Response", bound=Message)


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a snapshot's bundle lies, and what is there."""

    key: Key
    snapshot: Check
    """The snapshot must still exist when a bundle is written."""
    empty: TableConstraints
    stored: Stored[TableConstraints] | None

    @property
    def current(self) -> TableConstraints:
        return self.stored.message if self.stored else self.empty

    @property
    def meta(self) -> MutationMeta:
        """A bundle that doesn't exist has version 0 and no etag."""
        return self.stored.meta if self.stored else MutationMeta()


class ConstraintsRepository:
    """Constraint bundles by table and snapshot."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._tables = TableRepository(stores)
        self._snapshots = SnapshotRepository(stores)
        self._mutations = Mutations(stores)

    def get(
        self, caller: Caller, table_id: ResourceId, ref: SnapshotRef
    ) -> Stored[TableConstraints]:
        """The bundle of a snapshot."""
        return _existing(self._slot(caller, table_id, ref))

    def list(self, caller: Caller, request: ListTableConstraintsRequest) -> Page[TableConstraints]:
        """A page of the bundles of all the table's snapshots, newest first."""
        table_id = self._tables.get(caller, request.table_id).message.resource_id.id
        cursor = page_cursor(request.page, "constraints", caller.account_id, table_id)
        partition = keys.constraints(caller.account_id, table_id)
        records = self._stores.kv.scan(
            partition, after=cursor.after, limit=cursor.size + 1, reverse=True
        )
        decode = self._stores.codec.decode
        shown = records[: cursor.size]
        bundles, _ = first_fitting(decode(record, TableConstraints).message for record in shown)
        more = len(bundles) < len(records)
        last = records[len(bundles) - 1].key.sort if more else ""
        return Page(bundles, cursor.token(last) if more else "")

    def put(
        self, caller: Caller, request: PutTableConstraintsRequest
    ) -> PutTableConstraintsResponse:
        """Replace the whole bundle, or create it."""
        given = checked(request.constraints)
        return self._edit(caller, request, given, lambda _: given, PutTableConstraintsResponse)

    def merge(
        self, caller: Caller, request: MergeTableConstraintsRequest
    ) -> MergeTableConstraintsResponse:
        """Merge by name."""
        given = checked(request.constraints)
        return self._edit(
            caller, request, given, lambda now: merged(now, given), MergeTableConstraintsResponse
        )

    def append(
        self, caller: Caller, request: AppendTableConstraintsRequest
    ) -> AppendTableConstraintsResponse:
        """Add constraints and change none."""
        given = checked(request.constraints)
        return self._edit(
            caller, request, given, lambda now: appended(now, given), AppendTableConstraintsResponse
        )

    def add(self, caller: Caller, request: AddTableConstraintRequest) -> AddTableConstraintResponse:
        """Add one constraint."""
        given = checked(
            TableConstraints(
                table_id=request.table_id,
                snapshot_id=request.snapshot_id,
                constraints=[request.constraint],
            )
        )
        return self._edit(
            caller, request, given, lambda now: appended(now, given), AddTableConstraintResponse
        )

    def delete_one(
        self, caller: Caller, request: DeleteTableConstraintRequest
    ) -> DeleteTableConstraintResponse:
        """Remove one constraint by name; the bundle stays, possibly empty."""
        name = cleaned_name(request.constraint_name, "constraint_name")
        given = TableConstraints(table_id=request.table_id, snapshot_id=request.snapshot_id)
        return self._edit(
            caller, request, given, lambda now: without(now, name), DeleteTableConstraintResponse
        )

    def delete(
        self, caller: Caller, request: DeleteTableConstraintsRequest
    ) -> DeleteTableConstraintsResponse:
        """Remove the whole bundle."""
        ref = SnapshotRef(snapshot_id=request.snapshot_id)

        def change() -> Change[DeleteTableConstraintsResponse]:
            slot = self._slot(caller, request.table_id, ref)
            stored = _existing(slot)
            check_precondition(request.precondition, stored.meta)
            removal = Delete(slot.key, stored.version)
            return Change((removal,), DeleteTableConstraintsResponse(meta=stored.meta))

        return self._mutations.run(caller, request, DeleteTableConstraintsResponse, change)

    def _edit(
        self,
        caller: Caller,
        request: GuardedRequest,
        given: TableConstraints,
        edit: Callable[[TableConstraints], TableConstraints],
        response_type: type[Response],
    ) -> Response:
        """Write what `edit` makes of the present bundle, creating one if there is none."""
        ref = SnapshotRef(snapshot_id=given.snapshot_id)

        def change() -> Change[Response]:
            slot = self._slot(caller, given.table_id, ref)
            check_precondition(request.precondition, slot.meta)
            bundle = edit(slot.current)
            for constraint in bundle.constraints:
                if constraint.HasField("referenced_table_id"):
                    field = "constraints.referenced_table_id"
                    named_id(caller, constraint.referenced_table_id, common_pb2.RK_TABLE, field)
            bundle.table_id.CopyFrom(slot.empty.table_id)
            now = self._stores.now()
            meta = next_meta(slot.meta, bundle, now) if slot.stored else first_meta(bundle, now)
            value = self._stores.codec.encode(caller.account_id, bundle, meta)
            expected = slot.stored.version if slot.stored else ABSENT
            return Change(
                (Put(slot.key, value, expected), slot.snapshot),
                response_type(constraints=bundle, meta=meta),
            )

        return self._mutations.run(caller, request, response_type, change)

    def _slot(self, caller: Caller, table_id: ResourceId, ref: SnapshotRef) -> _Slot:
        account = caller.account_id
        snapshot = self._snapshots.resolve(caller, table_id, ref)
        snapshot_id = snapshot.message.snapshot_id
        at = keys.at_moment(moment_of(snapshot.message), snapshot_id)
        key = Key(keys.constraints(account, table_id.id), at)
        record = self._stores.kv.get(key)
        return _Slot(
            key=key,
            snapshot=Check(keys.snapshot(account, table_id.id, snapshot_id), snapshot.version),
            empty=TableConstraints(table_id=snapshot.message.table_id, snapshot_id=snapshot_id),
            stored=self._stores.codec.decode(record, TableConstraints) if record else None,
        )


def _existing(slot: _Slot) -> Stored[TableConstraints]:
    if slot.stored is None:
        raise NotFoundError(
            f"snapshot {slot.empty.snapshot_id} has no constraints",
            reason="CONSTRAINTS_NOT_FOUND",
            metadata={"snapshot_id": str(slot.empty.snapshot_id)},
        )
    return slot.stored
