"""What commands print: tables that lose nothing, JSON with every key."""

import io
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import ParseDict

from ai.floedb.floecat.catalog.table_pb2 import GetTableResponse, Table
from floecat.cli import output
from floecat.cli.columns import column_widths, how_many_fit, longest_number
from floecat.cli.output import message_json, print_table

COLUMNS = ["NAME", "FORMAT", "CREATED", "DESCRIPTION"]
WIDE = [
    ["sales.eu." + "orders_" * 20, "iceberg", "2026-11-15 10:00", "a longish description " * 8],
    ["sales.eu.short", "delta", "2026-11-15 10:00", "x" * 90],
    ["漢字" * 30, "delta", "2026-11-15 10:00", "説明" * 30],
]


@pytest.mark.parametrize("width", [60, 80, 100, 250])
@pytest.mark.parametrize("rows", [WIDE, WIDE[:1], WIDE[1:2], [["a", "b", "c", ""]]])
def test_a_narrow_terminal_loses_nothing(
    width: int, rows: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    drawn = io.StringIO()
    console = Console(width=width, force_terminal=True, file=drawn, color_system=None)
    monkeypatch.setattr(output, "_console", lambda: console)
    print_table(COLUMNS, rows)
    shown = drawn.getvalue()
    for column, header in enumerate(COLUMNS):
        for text in (header, *(row[column] for row in rows)):
            for character in set(text):
                wanted = sum(cell.count(character) for row in (COLUMNS, *rows) for cell in row)
                assert character.isspace() or shown.count(character) == wanted


def test_names_give_way_last_and_short_columns_not_at_all() -> None:
    assert column_widths([10, 7, 16, 20], 80) == [10, 7, 16, 20]
    assert column_widths([40, 7, 16, 500], 80) == [40, 7, 16, 17]
    assert column_widths([500, 7, 16, 500], 80) == [49, 7, 12, 12]


def test_numbers_are_broken_only_if_nothing_else_can_give_way() -> None:
    assert column_widths([10, 40, 19], 60, [0, 0, 19]) == [10, 31, 19]
    assert column_widths([10, 500, 500], 60, [0, 0, 23]) == [10, 19, 31]
    assert column_widths([10, 500, 500], 36, [0, 0, 23]) == [10, 13, 13]
    assert longest_number(["a b", "~120k (117k–124k)", "s3://lake/" + "0" * 30]) == 11


def test_columns_that_dont_fit_are_left_out_from_the_end() -> None:
    numbers = [0, 0, 20, 0]
    for width, count in {100: 4, 99: 3, 62: 3, 42: 2, 12: 1}.items():
        assert how_many_fit([20, 20, 30, 22], numbers, width, foldable=3) == count
    assert how_many_fit([20, 20, 30, 200], numbers, 118, foldable=3) == 4


def keys_of(descriptor: Descriptor) -> list[str]:
    return [field.name for field in descriptor.fields]


def test_json_has_every_key_in_the_order_of_the_contract() -> None:
    empty = message_json(GetTableResponse(table=Table()))
    full = Table(display_name="t", current_snapshot_id=5, properties={"b": "1", "a": "2"})
    full.upstream.uri = "s3://x"
    shown = message_json(GetTableResponse(table=full))
    assert list(empty) == list(shown) == keys_of(GetTableResponse.DESCRIPTOR)
    assert list(empty["table"]) == list(shown["table"]) == keys_of(Table.DESCRIPTOR)
    assert empty["meta"] is None
    assert empty["table"]["current_snapshot_id"] is None
    assert list(shown["table"]["properties"]) == ["a", "b"]
    read: Any = ParseDict(shown, GetTableResponse())
    assert read.table == full
