"""Columns keep their numbers, whichever way a table's history is learnt of."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ai.floedb.floecat.catalog.snapshot_pb2 import Snapshot
from ai.floedb.floecat.catalog.table_pb2 import ColumnId
from floecat.catalog.numbering import ColumnHistory, columns_as_of, numbered

Schema = frozenset[str]
SCHEMAS = st.lists(st.frozensets(st.sampled_from("abc")), min_size=1, max_size=8)


def leaves(names: Schema) -> list[ColumnId]:
    return [ColumnId(path=[name]) for name in sorted(names)]


def by_name(columns: Sequence[ColumnId]) -> dict[str, int]:
    return {column.path[0]: column.column_id for column in columns}


def forwards(schemas: Sequence[Schema]) -> tuple[ColumnHistory, list[dict[str, int]]]:
    history = ColumnHistory([])
    return history, [by_name(history.after(leaves(names))) for names in schemas]


def backwards(history: ColumnHistory, schemas: Sequence[Schema]) -> list[dict[str, int]]:
    found = history.before([leaves(names) for names in reversed(schemas)])
    return [by_name(columns) for columns in found][::-1]


def assert_right(schemas: Sequence[Schema], numbers: Sequence[dict[str, int]]) -> None:
    """One number for as long as every schema has the name; and no number for two columns."""
    meaning: dict[int, tuple[str, int]] = {}
    for at, names in enumerate(schemas):
        assert numbers[at].keys() == names
        for name, number in numbers[at].items():
            began = at
            while began and name in schemas[began - 1]:
                began -= 1
            assert meaning.setdefault(number, (name, began)) == (name, began)
    assert len(set(meaning.values())) == len(meaning)


@given(SCHEMAS)
def test_a_history_that_is_followed(schemas: list[Schema]) -> None:
    history, numbers = forwards(schemas)
    assert_right(schemas, numbers)
    again = ColumnHistory(history.known)
    assert backwards(again, schemas) == numbers, "looked at again"
    assert again.known == history.known


@given(SCHEMAS)
def test_a_history_that_is_learnt_of_afterwards(schemas: list[Schema]) -> None:
    history = ColumnHistory(numbered([], leaves(schemas[-1])))
    numbers = backwards(history, schemas)
    assert_right(schemas, numbers)
    assert by_name([c for c in history.known if not c.dropped]) == numbers[-1]
    again = ColumnHistory(history.known)
    assert backwards(again, schemas) == numbers
    assert again.known == history.known


@given(SCHEMAS, SCHEMAS)
def test_a_history_that_is_followed_from_some_point_on(
    earlier: list[Schema], later: list[Schema]
) -> None:
    history = ColumnHistory(numbered([], leaves(earlier[-1])))
    past = backwards(history, earlier)
    then = [by_name(history.after(leaves(names))) for names in later]
    assert_right([*earlier, *later], [*past, *then])


@given(SCHEMAS, SCHEMAS, st.data())
def test_whoever_tries_again_comes_to_the_same(
    earlier: list[Schema], later: list[Schema], data: st.DataObject
) -> None:
    """The table's numbers are written, then some snapshots, oldest first; and then all again."""
    current = numbered([], leaves(earlier[-1]))
    first = ColumnHistory(current)
    schemas = [*earlier, *later]
    numbers = backwards(first, earlier)
    numbers += [by_name(first.after(leaves(names))) for names in later]
    recorded = data.draw(st.integers(0, len(schemas)))
    told = [
        [ColumnId(column_id=number, path=[name]) for name, number in numbers[at].items()]
        if at < recorded
        else leaves(names)
        for at, names in enumerate(schemas)
    ]
    again = ColumnHistory(first.known, current)
    past = [by_name(columns) for columns in again.before(told[: len(earlier)][::-1])][::-1]
    then = [by_name(again.after(columns)) for columns in told[len(earlier) :]]
    assert [*past, *then][:recorded] == numbers[:recorded]
    assert_right(schemas, [*past, *then])


def test_formats_that_number_some_columns_dont_meet_our_numbers() -> None:
    mapped = [
        ColumnId(column_id=1, path=["a"]),
        ColumnId(column_id=2, path=["b"]),
        ColumnId(path=["list", "element"]),
    ]
    known = numbered([], mapped)
    assert len({column.column_id for column in known}) == 3
    more = numbered(known, [*mapped, ColumnId(column_id=3, path=["c"])])
    assert more[:3] == known
    assert len({column.column_id for column in more}) == 4
    clash = [ColumnId(column_id=1, path=["list", "element"])]
    mended = numbered(clash, mapped)
    assert len({column.column_id for column in mended}) == 3


def test_columns_as_of_a_snapshot() -> None:
    known = [
        ColumnId(column_id=5, path=["a"]),
        ColumnId(column_id=3, path=["a"], dropped=True),
        ColumnId(column_id=2, path=["b"], dropped=True),
        ColumnId(column_id=1, path=["b"], dropped=True),
    ]
    assert by_name(columns_as_of(Snapshot(), known)) == {"a": 5, "b": 2}
    own = Snapshot(column_ids=[ColumnId(column_id=3, path=["a"])])
    assert by_name(columns_as_of(own, known)) == {"a": 3}
    assert not any(column.dropped for column in columns_as_of(Snapshot(), known))
