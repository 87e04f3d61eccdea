"""How commands print: tables for people, JSON with stable keys for machines."""

import json
import sys
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

_PIPED_WIDTH: Final = 10_000
"""Piped output is never folded, so that grep and cut see whole rows."""


def print_json(value: object) -> None:
    """Pretty JSON, keys in the order given."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table; folded to the terminal's width when there is one."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_PIPED_WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
