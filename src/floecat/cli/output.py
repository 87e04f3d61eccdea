"""How commands print: tables and blocks for people, JSON with stable keys for machines."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import typer
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from floecat.cli.pages import Fetched

_PIPED_WIDTH: Final = 10_000
"""Piped output is never folded, so that grep and cut see whole rows."""


_NAME_WIDTH: Final = 48
"""What the first column may keep for itself on a terminal of 80."""


def print_json(value: object) -> None:
    """Pretty JSON, keys in the order given."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def message_json(message: Message) -> dict[str, Any]:
    """A message in protobuf's JSON mapping; optional fields that are unset are left out."""
    return MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def print_message(message: Message) -> None:
    """A message as JSON."""
    print_json(message_json(message))


def print_done(message: str) -> None:
    """One line that says what was done."""
    typer.echo(message)


def note(message: str) -> None:
    """One line beside the output, for people, where it doesn't get into pipes."""
    typer.echo(message, err=True)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table. On a narrow terminal the first column, names mostly, is folded last."""
    from rich.cells import cell_len  # noqa: PLC0415 - slow to import, and JSON doesn't need it
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    longest = max((cell_len(row[0]) for row in rows), default=0)
    first, *others = columns
    table.add_column(first, overflow="fold", style="cyan", min_width=min(longest, _NAME_WIDTH))
    for column in others:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    draw(table)


def print_items(
    found: "Fetched[Any]", columns: Mapping[str, Callable[[Any], str]], *, as_json: bool
) -> None:
    """A listing: a column per entry, each with how its cells come about."""
    if as_json:
        print_json([message_json(item) for item in found.items])
        return
    rows = [[cell(item) for cell in columns.values()] for item in found.items]
    if rows:
        print_table(list(columns), rows)
    else:
        note("there are none")
    if found.more:
        note(f"… and more: --limit showed the first {len(found.items)}")


def print_fields(fields: Mapping[str, str | Sequence[str]]) -> None:
    """One thing, a line per field; fields without a value are left out."""
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    block = Table.grid(padding=(0, 2, 0, 0))
    block.add_column(style="bold", no_wrap=True)
    block.add_column(overflow="fold")
    for name, value in fields.items():
        lines = [value] if isinstance(value, str) else list(value)
        for index, line in enumerate(line for line in lines if line):
            block.add_row(name if index == 0 else "", Text(line))
    draw(block)


def draw(what: "RenderableType") -> None:
    """Print something of Rich's: with colours and as wide as the terminal, or plain and whole."""
    from rich.console import Console  # noqa: PLC0415 - as above

    console = Console(highlight=False)
    if console.is_terminal:
        console.print(what)
        return
    sys.stdout.write(_plain(Console(highlight=False, width=_PIPED_WIDTH), what))


def _plain(console: "Console", what: "RenderableType") -> str:
    with console.capture() as captured:
        console.print(what)
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())
