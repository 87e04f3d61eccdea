"""What Iceberg connectors must find in a running catalog, besides what every connector must do.

What pyiceberg reads from the same catalog is the truth.
"""

from typing import Any

import pytest
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from tests.interop.iceberg_lake import DELETED, EMPTY, NAMESPACE, ORDERS, VIEW, VIEW_SQL, Lake

from floecat.connectors.spi.errors import UpstreamGoneError
from floecat.connectors.spi.records import SnapshotEnumerationOptions
from floecat.connectors.testing import ConnectorConformance, Upstream

_ALL = SnapshotEnumerationOptions(full_rescan=True)


class IcebergServerChecks(ConnectorConformance):
    """Subclass it beside a fixture `lake`."""

    keeps_history = True
    """Whether the server shows a table's older snapshots, and its tags."""

    @pytest.fixture
    def upstream(self, lake: Lake) -> Upstream:
        return Upstream(open=lake.open, namespace=(NAMESPACE,), table=ORDERS)

    def test_tables_are_listed(self, lake: Lake) -> None:
        with lake.open() as connector:
            assert sorted(connector.list_tables((NAMESPACE,))) == [DELETED, EMPTY, ORDERS]

    def test_a_table_is_described_as_it_is(self, lake: Lake) -> None:
        table = lake.table(ORDERS)
        with lake.open() as connector:
            described = connector.describe((NAMESPACE,), ORDERS)
        assert described.location == table.location()
        assert described.current_snapshot_id == table.metadata.current_snapshot_id
        assert described.properties["owner_team"] == "sales"
        found = {column.source_id: column.name for column in described.columns}
        assert found == _leaves(table.schema())
        references = {r.name: r.snapshot_id for r in described.references}
        assert references == {name: r.snapshot_id for name, r in table.refs().items()}
        assert ("first" in references) == self.keeps_history

    def test_every_snapshot_is_enumerated(self, lake: Lake) -> None:
        table = lake.table(ORDERS)
        with lake.open() as connector:
            found = list(connector.enumerate_snapshots((NAMESPACE,), ORDERS, _ALL))
        assert [(s.snapshot_id, s.parent_id, s.sequence_number) for s in found] == [
            (s.snapshot_id, s.parent_snapshot_id, s.sequence_number) for s in table.snapshots()
        ]
        names = [{column.name for column in snapshot.columns} for snapshot in found]
        assert "full_name" in names[-1]
        if self.keeps_history:
            assert len(found) >= 5
            assert "name" in names[0]
            assert "full_name" not in names[0]
        else:
            assert len(found) == 1

    def test_every_snapshots_files_are_planned(self, lake: Lake) -> None:
        table = lake.table(ORDERS)
        with lake.open() as connector:
            for snapshot in table.snapshots():
                bundle = connector.plan_snapshot_files((NAMESPACE,), ORDERS, snapshot.snapshot_id)
                found = sorted((f.file_path, f.record_count) for f in bundle.data_files)
                assert found == _files(table, snapshot.snapshot_id)

    def test_position_deletes_apply_to_their_file(self, lake: Lake) -> None:
        table = lake.table(DELETED)
        truth = {
            task.file.file_path: sorted(delete.file_path for delete in task.delete_files)
            for task in table.scan().plan_files()
        }
        current = table.metadata.current_snapshot_id
        assert current is not None
        with lake.open() as connector:
            bundle = connector.plan_snapshot_files((NAMESPACE,), DELETED, current)
            deletes = list(bundle.delete_files)
            found = {
                file.file_path: sorted(deletes[i].file_path for i in file.delete_file_indexes)
                for file in bundle.data_files
            }
        assert found == truth
        assert sorted(len(paths) for paths in found.values()) == [0, 1]
        assert [file.record_count for file in deletes] == [2]

    def test_a_table_without_snapshots(self, lake: Lake) -> None:
        with lake.open() as connector:
            assert connector.describe((NAMESPACE,), EMPTY).current_snapshot_id is None
            assert list(connector.enumerate_snapshots((NAMESPACE,), EMPTY, _ALL)) == []


class NestedChecks:
    """For servers with namespaces of any depth, and names of any character."""

    def test_nested_namespaces(self, lake: Lake) -> None:
        deep = ("deep", "deeper", "deepest")
        for depth in range(1, 4):
            lake.catalog.create_namespace_if_not_exists(deep[:depth])
        schema = lake.table(EMPTY).schema()
        lake.catalog.create_table_if_not_exists((*deep, "bottom"), schema)
        with lake.open() as connector:
            found = [ns for ns in connector.list_namespaces() if ns[0] == "deep"]
            assert found == [deep[:1], deep[:2], deep]
            assert list(connector.list_tables(deep)) == ["bottom"]
            assert list(connector.list_tables(deep[:2])) == []
            assert connector.describe(deep, "bottom").columns

    @pytest.mark.parametrize(
        ("namespace", "name"),
        [("with space", "näme"), ("plus+", "more.dots")],
    )
    def test_names_of_other_characters(self, lake: Lake, namespace: str, name: str) -> None:
        lake.catalog.create_namespace((namespace,))
        lake.catalog.create_table((namespace, name), lake.table(EMPTY).schema())
        with lake.open() as connector:
            assert (namespace,) in set(connector.list_namespaces())
            assert list(connector.list_tables((namespace,))) == [name]
            assert connector.describe((namespace,), name).columns


class ViewChecks:
    """For servers with views, `add_view` having been called."""

    def test_views(self, lake: Lake) -> None:
        with lake.open() as connector:
            assert list(connector.list_views((NAMESPACE,))) == [VIEW]
            view = connector.describe_view((NAMESPACE,), VIEW)
            with pytest.raises(UpstreamGoneError):
                connector.describe((NAMESPACE,), VIEW)
            with pytest.raises(UpstreamGoneError):
                connector.describe_view((NAMESPACE,), ORDERS)
        assert [(d.dialect, d.sql) for d in view.sql_definitions] == [("spark", VIEW_SQL)]
        assert [column.name for column in view.output_columns] == ["id"]
        assert view.default_namespace == (NAMESPACE,)
        assert view.properties["owner_team"] == "sales"


def _files(table: Table, snapshot_id: int) -> list[tuple[Any, Any]]:
    """Paths and physical row counts."""
    planned = table.scan(snapshot_id=snapshot_id).plan_files()
    return sorted((task.file.file_path, task.file.record_count) for task in planned)


def _leaves(schema: Schema) -> dict[int, str | None]:
    ids = [field for field in schema.field_ids if schema.find_type(field).is_primitive]
    return {field: schema.find_column_name(field) for field in ids}
