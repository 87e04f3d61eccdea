"""Which columns selectors choose."""

import pytest

from floecat.connectors.spi.columns import ColumnPath, ColumnScope, SourceColumn
from floecat.connectors.spi.errors import ConnectorError
from floecat.connectors.spi.records import SnapshotEnumerationOptions
from floecat.types import logical as types


def column(*path: str, source_id: int | None = None) -> SourceColumn:
    return SourceColumn(path=path, logical_type=types.INT, source_id=source_id)


COLUMNS = [
    column("id", source_id=1),
    column("address", "city", source_id=3),
    column("address", "street", source_id=4),
    column("a.b", source_id=5),
    column("new"),
]


def chosen(*selectors: str, numbers: dict[ColumnPath, int] | None = None) -> list[int]:
    scope = ColumnScope(selectors, numbers or {})
    return [column.column_id for column in scope.selected(COLUMNS)]


def test_no_selector_means_all_that_have_an_id() -> None:
    assert chosen() == [1, 3, 4, 5]
    assert chosen(numbers={("new",): 100}) == [1, 3, 4, 5, 100]


@pytest.mark.parametrize(
    ("selectors", "ids"),
    [
        (("#3",), [3]),
        (("id",), [1]),
        (("address.city",), [3]),
        (("address",), [3, 4]),
        (("a.b",), [5]),
        (("a",), []),
        (("#3", "id", "nothing", "#77"), [1, 3]),
        (("ID",), []),
    ],
)
def test_selectors_choose_by_id_name_and_path(selectors: tuple[str, ...], ids: list[int]) -> None:
    assert chosen(*selectors) == ids


@pytest.mark.parametrize("selector", ["#", "#x", "#-1", "#1.5", "# 1"])
def test_what_isnt_an_id_is_refused(selector: str) -> None:
    with pytest.raises(ConnectorError, match="column id"):
        chosen(selector)


def test_the_catalog_is_told_what_to_number() -> None:
    assert ColumnScope().unnumbered(COLUMNS) == [("new",)]
    assert ColumnScope((), {("new",): 9}).unnumbered(COLUMNS) == []


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (SnapshotEnumerationOptions(), [1, 2, 3]),
        (SnapshotEnumerationOptions(known_snapshot_ids=frozenset({1, 2})), [3]),
        (
            SnapshotEnumerationOptions(full_rescan=True, known_snapshot_ids=frozenset({1})),
            [1, 2, 3],
        ),
        (
            SnapshotEnumerationOptions(
                known_snapshot_ids=frozenset({1}), target_snapshot_ids=frozenset({1, 9})
            ),
            [1],
        ),
        (SnapshotEnumerationOptions(target_snapshot_ids=frozenset()), []),
    ],
)
def test_which_snapshots_are_wanted(options: SnapshotEnumerationOptions, wanted: list[int]) -> None:
    assert [number for number in (1, 2, 3) if options.wants(number)] == wanted
