"""Runs every module of this package that has a `measure`, or those named on the command line."""

import importlib
import json
import pkgutil
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

import bench
from bench.report import Report

RESULTS = Path(__file__).resolve().parent.parent / "build" / "bench.json"


def benchmarks(wanted: list[str]) -> list[str]:
    found = [module.name for module in pkgutil.iter_modules(bench.__path__)]
    modules = [name for name in found if name not in {"__main__", "report"}]
    unknown = set(wanted) - set(modules)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(modules)}")
    return wanted or modules


def show(title: str, report: Report) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    table.add_column("", justify="right")
    table.add_column("unit")
    table.add_column("limit", justify="right")
    for row in report:
        missed = " [bold red]missed[/]" if row.missed else ""
        value = f"{row.value:,.2f}" if row.value < 100 else f"{row.value:,.0f}"
        table.add_row(row.name, value, row.unit, row.limit + missed)
    Console().print(table)


def main(wanted: list[str]) -> int:
    results: dict[str, Report] = {}
    for name in benchmarks(wanted):
        results[name] = importlib.import_module(f"bench.{name}").measure()
        show(name, results[name])
    RESULTS.parent.mkdir(exist_ok=True)
    kept = {name: [asdict(row) for row in report] for name, report in results.items()}
    RESULTS.write_text(json.dumps(kept, indent=2) + "\n")
    missed = [row.name for report in results.values() for row in report if row.missed]
    if missed:
        print(f"beyond the limit: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
