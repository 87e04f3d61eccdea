"""What every connector must do. Needs pytest, and an upstream with at least one filled table."""

import gc
import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats, TargetStatsRecord
from ai.floedb.floecat.connector.connector_pb2 import ConnectorFormat
from floecat.connectors.spi.columns import ColumnPath, ColumnScope, SourceColumn
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import UnsupportedByConnectorError, UpstreamGoneError
from floecat.connectors.spi.records import (
    Namespace,
    ScanBundle,
    SnapshotBundle,
    SnapshotEnumerationOptions,
    TableDescriptor,
)
from floecat.connectors.testing.agreement import check_merged, check_rows
from floecat.types.encoding import ValueEncoders
from floecat.types.messages import from_message
from floecat.types.ordering import comparator

_ALL = SnapshotEnumerationOptions(full_rescan=True)
_SETTLING_SECONDS = 5
_NOWHERE: Namespace = ("no", "such", "namespace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """What a connector is tested against."""

    open: Callable[[], FloecatConnector]
    """Opens a new connector each time."""
    namespace: Namespace
    table: str
    """A table with at least one snapshot that has at least one data file."""


class ConnectorConformance:
    """Subclass it and say what the upstream is."""

    @pytest.fixture
    def upstream(self) -> Upstream:
        raise NotImplementedError("a fixture that says what to test against")

    @pytest.fixture
    def connector(self, upstream: Upstream) -> Iterator[FloecatConnector]:
        with upstream.open() as connector:
            yield connector

    def test_it_has_a_stable_id_and_a_format(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        with upstream.open() as again:
            assert connector.id == again.id != ""
        assert connector.format != ConnectorFormat.CF_UNSPECIFIED

    def test_namespaces_come_once_and_parents_first(self, connector: FloecatConnector) -> None:
        found = list(connector.list_namespaces())
        assert max(Counter(found).values()) == 1
        place = {namespace: number for number, namespace in enumerate(found)}
        for namespace in found:
            assert isinstance(namespace, tuple)
            assert all(namespace), "no part of a namespace is empty"
            if len(namespace) > 1:
                assert place.get(namespace[:-1], len(found)) < place[namespace], "parents first"
        if not connector.capabilities.nested_namespaces:
            assert all(len(namespace) <= 1 for namespace in found)

    def test_the_table_is_listed_and_described(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        assert upstream.namespace in set(connector.list_namespaces())
        listed = list(connector.list_tables(upstream.namespace))
        assert listed.count(upstream.table) == 1
        described = _describe(upstream, connector)
        assert (described.namespace, described.name) == (upstream.namespace, upstream.table)
        assert described.location
        assert described.schema_json
        assert described.columns
        _check_columns(described.columns)

    def test_what_isnt_there_is_gone(self, upstream: Upstream, connector: FloecatConnector) -> None:
        with pytest.raises(UpstreamGoneError):
            connector.describe(upstream.namespace, "no_such_table")
        with pytest.raises(UpstreamGoneError):
            connector.describe(_NOWHERE, "no_such_table")
        with pytest.raises(UpstreamGoneError):
            list(connector.list_tables(_NOWHERE))
        with pytest.raises(UpstreamGoneError):
            _plan(upstream, connector, snapshot_id=-404)
        with pytest.raises(UpstreamGoneError):
            connector.snapshot_columns(upstream.namespace, upstream.table, -404)

    def test_snapshots_are_enumerated_as_asked(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        everything = _snapshots(upstream, connector, _ALL)
        ids = [snapshot.snapshot_id for snapshot in everything]
        assert len(ids) == len(set(ids)) > 0
        known = frozenset(ids[:-1])
        assert _ids(upstream, connector, SnapshotEnumerationOptions()) == ids
        incremental = SnapshotEnumerationOptions(known_snapshot_ids=known)
        assert _ids(upstream, connector, incremental) == ids[-1:]
        full = SnapshotEnumerationOptions(full_rescan=True, known_snapshot_ids=known)
        assert _ids(upstream, connector, full) == ids
        targets = frozenset({ids[0], -404})
        target = SnapshotEnumerationOptions(known_snapshot_ids=known, target_snapshot_ids=targets)
        assert _ids(upstream, connector, target) == ids[:1]

    def test_snapshots_say_when_and_whence(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        seen: set[int] = set()
        everything = _snapshots(upstream, connector, _ALL)
        ids = {snapshot.snapshot_id for snapshot in everything}
        for snapshot in everything:
            assert snapshot.created_at.tzinfo is not None
            if snapshot.parent_id in ids:
                assert snapshot.parent_id in seen, "a parent comes before its children"
            elif snapshot.parent_id is not None:
                with pytest.raises(UpstreamGoneError):  # it expired, or it would be reported
                    _plan(upstream, connector, snapshot.parent_id)
            _check_columns(snapshot.columns)
            seen.add(snapshot.snapshot_id)
        described = _describe(upstream, connector)
        assert described.current_snapshot_id in seen
        assert {reference.snapshot_id for reference in described.references} <= seen

    def test_files_are_planned_the_same_each_time(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        bundle = _plan(upstream, connector)
        assert _columns(upstream, connector) == bundle.columns
        files = list(bundle.data_files)
        assert files
        assert [file.file_path for file in bundle.data_files] == [f.file_path for f in files]
        assert len({file.file_path for file in files}) == len(files)
        for file in files:
            assert file.file_size_bytes > 0
            assert file.file_format
            assert not file.columns, "statistics come only when asked for"
            assert all(0 <= index < len(bundle.delete_files) for index in file.delete_file_indexes)

    def test_planned_files_can_be_opened(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        access = connector.file_access(upstream.namespace, upstream.table)
        travelled = pickle.loads(pickle.dumps(access))
        for file in list(_plan(upstream, connector).data_files)[:3]:
            with travelled.open(file.file_path) as opened:
                assert opened.size() == file.file_size_bytes

    def test_statistics_agree_with_the_plan(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        scope = self._scope(upstream, connector)
        records = _statistics(upstream, connector, scope)
        kinds = [str(record.target.WhichOneof("target")) for record in records]
        assert kinds == sorted(kinds, key=["file", "column", "table"].index)
        planned = list(_plan(upstream, connector).data_files)
        files = [record.file for record in records if record.HasField("file")]
        assert [file.identity.file_path for file in files] == [file.file_path for file in planned]
        table = records[-1].table
        assert table.data_file_count == len(planned)
        assert table.data_size_bytes == sum(file.file_size_bytes for file in planned)
        if all(file.HasField("record_count") for file in planned):
            assert table.row_count == sum(file.record_count for file in planned)

    def test_statistics_are_canonical(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        for record in _statistics(upstream, connector, self._scope(upstream, connector)):
            assert record.snapshot_id == _current(upstream, connector)
            assert record.metadata.producer
            if record.HasField("scalar"):
                _check_scalar(record.scalar)
            for column in record.file.columns:
                _check_scalar(column.scalar)

    def test_statistics_agree_with_each_other(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        check_merged(_statistics(upstream, connector, self._scope(upstream, connector)))

    def test_statistics_agree_with_the_rows(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        scope = self._scope(upstream, connector)
        columns = scope.selected(_plan(upstream, connector).columns)
        access = connector.file_access(upstream.namespace, upstream.table)
        check_rows(_statistics(upstream, connector, scope), columns, access)

    def test_distinct_values_are_of_its_columns(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        bundle = _plan(upstream, connector)
        where = (upstream.namespace, upstream.table, bundle.snapshot_id)
        found = connector.distinct_values(*where)
        assert found.keys() <= {column.source_id for column in bundle.columns}
        assert all(column.ndv.WhichOneof("value") for column in found.values())

    def test_selectors_choose_columns(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        scope = self._scope(upstream, connector)
        columns = _plan(upstream, connector).columns
        wanted = scope.selected(columns)[0]
        for selector in (f"#{wanted.column_id}", wanted.column.name):
            chosen = ColumnScope((selector, "#999999", "no such column"), scope.numbers)
            records = _statistics(upstream, connector, chosen)
            found = {r.target.column.column_id for r in records if r.HasField("scalar")}
            below = {column.column_id for column in chosen.selected(columns)}
            assert found == below
            assert wanted.column_id in found

    def test_revisions_stay_while_nothing_changes(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        names = (upstream.table, "no_such_table")
        found = connector.table_revisions(upstream.namespace, names)
        assert set(found) <= {upstream.table}
        assert connector.table_revision(upstream.namespace, upstream.table) == found.get(
            upstream.table
        )
        if not connector.capabilities.revisions:
            assert not found
        with upstream.open() as again:
            _use_everything(upstream, again)
            assert again.table_revisions(upstream.namespace, names) == found

    def test_views_are_listed_or_refused(
        self, upstream: Upstream, connector: FloecatConnector
    ) -> None:
        if not connector.capabilities.views:
            with pytest.raises(UnsupportedByConnectorError):
                list(connector.list_views(upstream.namespace))
            with pytest.raises(UnsupportedByConnectorError):
                connector.describe_view(upstream.namespace, "any")
            return
        for name in connector.list_views(upstream.namespace):
            assert connector.describe_view(upstream.namespace, name).sql_definitions

    def test_nothing_is_left_open(self, upstream: Upstream) -> None:
        for _ in range(2):
            _use(upstream)  # what libraries keep for good is kept now
        before = _open_files()
        for _ in range(3):
            _use(upstream)
        deadline = time.monotonic() + _SETTLING_SECONDS
        while _open_files() > before and time.monotonic() < deadline:
            gc.collect()  # libraries leave cycles; a server in this process closes its end later
        assert _open_files() <= before

    def test_closing_twice_is_fine(self, upstream: Upstream) -> None:
        connector = upstream.open()
        connector.close()
        connector.close()

    def _scope(self, upstream: Upstream, connector: FloecatConnector) -> ColumnScope:
        """Every column, those numbered that the format doesn't number."""
        bundle = _plan(upstream, connector)
        paths = ColumnScope().unnumbered(bundle.columns)
        return ColumnScope((), {path: number for number, path in enumerate(paths, 1)})


def _describe(upstream: Upstream, connector: FloecatConnector) -> TableDescriptor:
    return connector.describe(upstream.namespace, upstream.table)


def _current(upstream: Upstream, connector: FloecatConnector) -> int:
    current = _describe(upstream, connector).current_snapshot_id
    assert current is not None, "the table to test with needs a snapshot"
    return current


def _snapshots(
    upstream: Upstream, connector: FloecatConnector, options: SnapshotEnumerationOptions
) -> list[SnapshotBundle]:
    return list(connector.enumerate_snapshots(upstream.namespace, upstream.table, options))


def _ids(
    upstream: Upstream, connector: FloecatConnector, options: SnapshotEnumerationOptions
) -> list[int]:
    return [snapshot.snapshot_id for snapshot in _snapshots(upstream, connector, options)]


def _plan(
    upstream: Upstream, connector: FloecatConnector, snapshot_id: int | None = None
) -> ScanBundle:
    wanted = _current(upstream, connector) if snapshot_id is None else snapshot_id
    return connector.plan_snapshot_files(upstream.namespace, upstream.table, wanted)


def _columns(upstream: Upstream, connector: FloecatConnector) -> tuple[SourceColumn, ...]:
    current = _current(upstream, connector)
    return connector.snapshot_columns(upstream.namespace, upstream.table, current)


def _statistics(
    upstream: Upstream, connector: FloecatConnector, scope: ColumnScope
) -> list[TargetStatsRecord]:
    current = _current(upstream, connector)
    return list(
        connector.capture_snapshot_target_stats(upstream.namespace, upstream.table, current, scope)
    )


def _check_columns(columns: tuple[SourceColumn, ...]) -> None:
    paths: list[ColumnPath] = [column.path for column in columns]
    assert len(set(paths)) == len(paths)
    ids = [column.source_id for column in columns if column.source_id is not None]
    assert len(set(ids)) == len(ids)


def _check_scalar(stats: ScalarStats) -> None:
    """Bounds are canonical and in order, and counts add up."""
    logical = from_message(stats.logical_type)
    bounds = [bound for bound in ("min", "max") if stats.HasField(bound)]
    for bound in bounds:
        text: str = getattr(stats, bound)
        assert ValueEncoders().encode_to_string(logical, text) == text
        assert stats.HasField(f"{bound}_tight")  # type: ignore[arg-type]  # both are fields
    if len(bounds) == 2:
        assert comparator(logical)(stats.min, stats.max) <= 0
    if stats.HasField("null_count") and stats.HasField("value_count"):
        assert 0 <= stats.null_count <= stats.value_count


def _use(upstream: Upstream) -> None:
    with upstream.open() as connector:
        list(connector.list_namespaces())
        list(_plan(upstream, connector).data_files)


def _use_everything(upstream: Upstream, connector: FloecatConnector) -> None:
    """What only reads changes nothing."""
    list(connector.list_tables(upstream.namespace))
    _describe(upstream, connector)
    _snapshots(upstream, connector, _ALL)


def _open_files() -> int:
    """How many files and sockets this process has open; 0 where the system doesn't say."""
    gc.collect()
    table = Path("/proc/self/fd")
    return len(list(table.iterdir())) if table.is_dir() else 0
