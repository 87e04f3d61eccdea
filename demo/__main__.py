"""The main job, from nothing: other people's catalogs are found, mirrored, captured, kept fresh."""

import shutil
import sys
import time
from pathlib import Path
from typing import Final

from rich.console import Console

from demo.lakehouse import Lakehouse
from demo.service import Terminal, running

FOLDER: Final = Path(__file__).resolve().parent.parent / "build" / "demo"
_RUN: Final = "--incremental --current --mode metadata-and-capture --wait"


def main() -> int:
    """Make everything anew, and show it."""
    console = Console(highlight=False)
    began = time.monotonic()
    shutil.rmtree(FOLDER, ignore_errors=True)
    say(console, "A lakehouse: TPC-H in an Iceberg warehouse and in a folder of Delta tables")
    lakehouse = Lakehouse(FOLDER / "lakehouse")
    lakehouse.make()
    console.print(f"made below {FOLDER.relative_to(Path.cwd())}/lakehouse\n")
    say(console, "A service, with a worker and a Spark of its own")
    with running(FOLDER / "data", lakehouse.root, console) as terminal:
        connect(terminal, lakehouse)
        say(console, "Both are mirrored, and every file is read once, on Spark")
        terminal.run(f"connector trigger warehouse {_RUN}")
        terminal.run(f"connector trigger lake {_RUN}")
        say(console, "One tree of both, and what is known of their columns")
        terminal.run("tree")
        terminal.run("stats table warehouse.sales.lineitem")
        terminal.run("stats columns warehouse.sales.lineitem")
        say(console, "Another day: a table grows")
        console.print(f"appended to {lakehouse.change()}\n")
        say(console, "Only the new file is read")
        terminal.run(f"connector trigger warehouse {_RUN}")
        terminal.run("stats table warehouse.sales.lineitem")
    say(console, f"That took {time.monotonic() - began:.0f} s. Next: make serve, and docs/cli.md")
    return 0


def connect(terminal: Terminal, lakehouse: Lakehouse) -> None:
    """Name both catalogs, and try them."""
    terminal.run(
        f"connector create warehouse --kind iceberg-sql --uri {lakehouse.iceberg_uri} "
        "--into warehouse"
    )
    terminal.run(
        f"connector create lake --kind delta-filesystem --uri file://{lakehouse.delta_folder} "
        "--into lake"
    )
    terminal.run("connector validate warehouse")


def say(console: Console, text: str) -> None:
    """What comes now."""
    console.rule(f"[bold cyan]{text}[/]", align="left")


if __name__ == "__main__":
    sys.exit(main())
