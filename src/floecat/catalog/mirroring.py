"""Bringing our mirror of an upstream's relation up to date: created, updated in place, or gone."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from ai.floedb.floecat.catalog.table_pb2 import (
    US_GONE,
    ColumnId,
    CreateTableRequest,
    CreateTableResponse,
    Table,
    TableSpec,
    UpdateTableRequest,
    UpdateTableResponse,
    UpstreamRef,
)
from ai.floedb.floecat.catalog.view_pb2 import (
    CreateViewRequest,
    CreateViewResponse,
    UpdateViewRequest,
    UpdateViewResponse,
    View,
    ViewSpec,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler.reconciler_pb2 import SourceRelation
from floecat.catalog import keys
from floecat.catalog.callers import Caller
from floecat.catalog.codec import Stored
from floecat.catalog.masks import copy_shared_fields
from floecat.catalog.mirrors import Mirrors
from floecat.catalog.names import cleaned_name
from floecat.catalog.numbering import numbered
from floecat.catalog.records import CatalogStores, Records
from floecat.catalog.resources import Resources
from floecat.catalog.rules import Home
from floecat.catalog.tables import TableRules
from floecat.catalog.views import ViewRules
from floecat.errors import AlreadyExistsError, FailedPreconditionError
from floecat.storage.kv.port import ANY, Key, Operation, Put

M = TypeVar("M", Table, View)

REVISION: Final = "floecat.revision"
"""The property of an `UpstreamRef` that holds the revision last mirrored."""

_OURS: Final = frozenset({"catalog_id", "namespace_id", "display_name"})
"""Fields that are the owner's here once a relation exists, not the upstream's."""


class Mirrored(NamedTuple, Generic[M]):
    """A relation that is up to date, and whether it had to be written for that."""

    relation: M
    changed: bool


class Mirroring:
    """Writes what mirrors one connector's relations."""

    def __init__(self, stores: CatalogStores, caller: Caller, connector_id: str) -> None:
        self._stores = stores
        self._caller = caller
        self.mirrors = Mirrors(stores, caller, connector_id)

    def put_table(
        self, source: SourceRelation, spec: TableSpec, columns: Sequence[ColumnId]
    ) -> Mirrored[Table]:
        """Create or update the table that mirrors a source."""
        row = self.mirrors.row_of(common_pb2.RK_TABLE, source)
        rules = _MirroredTables(self._stores, row, partial(numbered, leaves=columns))
        tables = Resources(self._stores, rules)
        stored = self.mirrors.find_table(source) or self._adoptable(self.mirrors.tables, spec)
        if stored is None:
            created = CreateTableRequest(spec=spec)
            with _Conflicts(spec.display_name):
                response = tables.create(self._caller, created, spec, CreateTableResponse)
            return Mirrored(response.table, changed=True)
        if _is_same_table(stored.message, spec, columns):
            return Mirrored(stored.message, changed=False)
        request = UpdateTableRequest(spec=spec)
        request.update_mask.paths.extend(_theirs(spec))
        identifier = stored.message.resource_id.id
        updated = tables.update(self._caller, request, identifier, UpdateTableResponse)
        return Mirrored(updated.table, changed=True)

    def put_columns(self, source: SourceRelation, columns: Sequence[ColumnId]) -> None:
        """Write down which columns the table that mirrors a source has and had, and nothing else.

        That comes before anything that speaks of them, so that no number is given twice.
        """
        stored = self.mirrors.find_table(source)
        if stored is not None:
            row = self.mirrors.row_of(common_pb2.RK_TABLE, source)
            rules = _MirroredTables(self._stores, row, lambda _: columns)
            identifier = stored.message.resource_id.id
            Resources(self._stores, rules).update(
                self._caller, UpdateTableRequest(), identifier, UpdateTableResponse
            )

    def put_view(self, source: SourceRelation, spec: ViewSpec) -> Mirrored[View]:
        """Create the view that mirrors a source, or update it in place."""
        rules = _MirroredViews(self._stores, self.mirrors.row_of(common_pb2.RK_VIEW, source))
        views = Resources(self._stores, rules)
        stored = self.mirrors.find_view(source) or self._adoptable(self.mirrors.views, spec)
        if stored is None:
            created = CreateViewRequest(spec=spec)
            with _Conflicts(spec.display_name):
                response = views.create(self._caller, created, spec, CreateViewResponse)
            return Mirrored(response.view, changed=True)
        if _wanted(stored.message, spec) == stored.message:
            return Mirrored(stored.message, changed=False)
        request = UpdateViewRequest(spec=spec)
        request.update_mask.paths.extend(_theirs(spec))
        identifier = stored.message.resource_id.id
        updated = views.update(self._caller, request, identifier, UpdateViewResponse)
        return Mirrored(updated.view, changed=True)

    def mark_gone(self, stored: Stored[Table] | Stored[View]) -> bool:
        """The upstream doesn't have it any more; whether that is news."""
        if stored.message.upstream.state == US_GONE:
            return False
        upstream = UpstreamRef()
        upstream.CopyFrom(stored.message.upstream)
        upstream.state = US_GONE
        upstream.gone_since.CopyFrom(self._stores.now())
        upstream.properties.pop(REVISION, None)
        self._update_upstream(stored.message.resource_id, upstream)
        return True

    def _update_upstream(self, relation_id: ResourceId, upstream: UpstreamRef) -> None:
        if relation_id.kind == common_pb2.RK_TABLE:
            table = UpdateTableRequest(spec=TableSpec(upstream=upstream))
            table.update_mask.paths.append("upstream")
            Resources(self._stores, TableRules(self._stores)).update(
                self._caller, table, relation_id.id, UpdateTableResponse
            )
        else:
            view = UpdateViewRequest(spec=ViewSpec(upstream=upstream))
            view.update_mask.paths.append("upstream")
            Resources(self._stores, ViewRules(self._stores)).update(
                self._caller, view, relation_id.id, UpdateViewResponse
            )

    def _adoptable(self, records: Records[M], spec: TableSpec | ViewSpec) -> Stored[M] | None:
        """A relation at the destination that says that it comes from there already."""
        partitions = {common_pb2.RK_TABLE: keys.tables, common_pb2.RK_VIEW: keys.views}
        account = self._caller.account_id
        names = partitions[records.kind](account, spec.namespace_id.id)
        name = cleaned_name(spec.display_name, "spec.display_name")
        stored = records.find_named(account, names, name)
        return stored if stored and _same_origin(stored.message.upstream, spec.upstream) else None


def _wanted(message: M, spec: TableSpec | ViewSpec) -> M:
    """A relation as the upstream wants it, under the name and place it has here."""
    wanted = type(message)()
    wanted.CopyFrom(message)
    copy_shared_fields(spec, wanted)
    wanted.catalog_id.CopyFrom(message.catalog_id)
    wanted.namespace_id.CopyFrom(message.namespace_id)
    wanted.display_name = message.display_name
    return wanted


_Numbering = Callable[[Sequence[ColumnId]], Sequence[ColumnId]]
"""From the columns that are known to those that are to be."""


class _MirroredTables(TableRules):
    """A mirrored table's columns are numbered, and its row is written, in the same commit."""

    def __init__(self, stores: CatalogStores, row: Key, number: _Numbering) -> None:
        super().__init__(stores)
        self._row = row
        self._number = number

    def put_in(self, message: Table, home: Home) -> None:
        super().put_in(message, home)
        columns = self._number(message.column_ids)
        del message.column_ids[:]
        message.column_ids.extend(columns)

    def sealed(
        self, account: str, identifier: str, spec: TableSpec, current: TableSpec | None
    ) -> tuple[TableSpec, tuple[Operation, ...]]:
        return spec, (Put(self._row, identifier.encode(), ANY),)


class _MirroredViews(ViewRules):
    """A mirrored view's row is written in the same commit."""

    def __init__(self, stores: CatalogStores, row: Key) -> None:
        super().__init__(stores)
        self._row = row

    def sealed(
        self, account: str, identifier: str, spec: ViewSpec, current: ViewSpec | None
    ) -> tuple[ViewSpec, tuple[Operation, ...]]:
        return spec, (Put(self._row, identifier.encode(), ANY),)


class _Conflicts:
    """Says what to do about a name that is taken by something the connector doesn't own."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, AlreadyExistsError):
            raise FailedPreconditionError(
                f"{self._name!r} is taken at the destination by something that isn't mirrored "
                "from there: rename it, or give the connector another destination",
                reason="DESTINATION_CONFLICT",
                metadata={"name": self._name},
            ) from error


def _is_same_table(table: Table, spec: TableSpec, columns: Sequence[ColumnId]) -> bool:
    known = list(table.column_ids)
    return _wanted(table, spec) == table and numbered(known, columns) == known


def _theirs(spec: TableSpec | ViewSpec) -> list[str]:
    return [field.name for field in spec.DESCRIPTOR.fields if field.name not in _OURS]


def _same_origin(ours: UpstreamRef, theirs: UpstreamRef) -> bool:
    return (
        ours.connector_id == theirs.connector_id
        and ours.namespace_path == theirs.namespace_path
        and ours.table_display_name == theirs.table_display_name
        and bool(ours.connector_id.id)
    )
