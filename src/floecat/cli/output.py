"""How commands print: tables and blocks for people, JSON with stable keys for machines."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import indent
from typing import TYPE_CHECKING, Any, Final, cast

import typer
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from floecat.characters import made_visible
from floecat.cli.columns import GAP, column_widths, how_many_fit, longest_number

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from floecat.cli.pages import Fetched

_PIPED_WIDTH: Final = 10_000
"""Piped output is never folded, so that grep and cut see whole rows."""


def print_json(value: object) -> None:
    """Pretty JSON, keys in the order given."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def message_json(message: Message) -> dict[str, Any]:
    """A message in protobuf's JSON mapping with every key, in the order of the contract.

    What isn't set is null, so that a program can ask for a key without asking whether it is there.
    """
    shown = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return _complete(cast("Descriptor", message.DESCRIPTOR), shown)


def _complete(descriptor: Descriptor, shown: dict[str, Any]) -> dict[str, Any]:
    return {field.name: _completed(field, shown.get(field.name)) for field in descriptor.fields}


def _completed(field: FieldDescriptor, value: Any) -> Any:
    inner = field.message_type
    if inner is None or value is None or inner.full_name.startswith("google.protobuf."):
        return value
    if inner.GetOptions().map_entry:
        of = inner.fields_by_name["value"]
        return {key: _completed(of, value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_complete(inner, item) for item in value]
    return _complete(inner, value)


def print_message(message: Message) -> None:
    """A message as JSON."""
    print_json(message_json(message))


def print_json_items(items: Iterable[object]) -> int:
    """A JSON list, written as its items come; how many there were."""
    count = 0
    for item in items:
        text = json.dumps(item, indent=2, ensure_ascii=False)
        sys.stdout.write(("[\n" if count == 0 else ",\n") + indent(text, "  "))
        sys.stdout.flush()
        count += 1
    sys.stdout.write("\n]\n" if count else "[]\n")
    return count


def print_lines(lines: Iterable[str]) -> int:
    """A line each, as they come; how many there were."""
    count = 0
    for line in lines:
        typer.echo(made_visible(line))
        count += 1
    return count


def print_done(message: str) -> None:
    """One line that says what was done."""
    typer.echo(made_visible(message))


def note(message: str) -> None:
    """One line beside the output, for people, where it doesn't get into pipes."""
    typer.echo(made_visible(message), err=True)


def visible_text(text: str, style: str = "", *, keeping: str = "") -> "Text":
    """Text to draw with: what others wrote is shown, and never obeyed by the terminal."""
    from rich.text import Text  # noqa: PLC0415 - slow to import, and JSON doesn't need it

    return Text(made_visible(text, keeping=keeping), style=style)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table. On a narrow terminal its cells are folded, those of the first column last."""
    from rich.table import Table  # noqa: PLC0415 - as above

    console = _console()
    shown = [[visible_text(cell) for cell in row] for row in rows]
    texts = [[cell.plain for cell in row] for row in shown]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    titles = [visible_text(column).plain for column in columns]
    needed, unbroken = _measured(list(zip(titles, *texts, strict=True)))
    widths = column_widths(needed, console.width - GAP * len(columns), unbroken)
    for number, (column, width) in enumerate(zip(columns, widths, strict=True)):
        table.add_column(
            visible_text(column),
            overflow="fold",
            width=width,
            style="cyan" if number == 0 else None,
        )
    for row in shown:
        table.add_row(*row)
    draw(table)


def columns_that_fit(columns: Mapping[str, Sequence[str]], foldable: int) -> list[str]:
    """The titles of the leading columns that a table has room for; some may be folded for it."""
    texts = [[made_visible(text) for text in (title, *cells)] for title, cells in columns.items()]
    needed, unbroken = _measured(texts)
    count = how_many_fit(needed, unbroken, terminal_width(), foldable)
    return list(columns)[:count]


def _measured(columns: Sequence[Sequence[str]]) -> tuple[list[int], list[int]]:
    """How wide columns are, each with its title first, and the longest numbers in them."""
    from rich.cells import cell_len  # noqa: PLC0415 - as above

    needed = [max(map(cell_len, column)) for column in columns]
    return needed, [longest_number(column[1:]) for column in columns]


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

    block = Table.grid(padding=(0, 2, 0, 0))
    block.add_column(style="bold", no_wrap=True)
    block.add_column(overflow="fold")
    for name, value in fields.items():
        lines = [value] if isinstance(value, str) else list(value)
        for index, line in enumerate(line for line in lines if line):
            # Its further lines stay in the column, so they can't pass for other fields.
            block.add_row(name if index == 0 else "", visible_text(line, keeping="\n\t"))
    draw(block)


def terminal_width() -> int:
    """How many characters fit a line; as many as one likes where the output is piped."""
    return _console().width


def draw(what: "RenderableType") -> None:
    """Print something of Rich's: with colours and as wide as the terminal, or plain and whole."""
    console = _console()
    if console.is_terminal:
        console.print(what)
    else:
        sys.stdout.write(_plain(console, what))


def _console() -> "Console":
    from rich.console import Console  # noqa: PLC0415 - as above

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_PIPED_WIDTH)


def _plain(console: "Console", what: "RenderableType") -> str:
    with console.capture() as captured:
        console.print(what)
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())
