"""Listing a folder's files by their whole relative names, reading only folders that matter."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

Found: TypeAlias = tuple[str, int, datetime]
"""A file's relative name, its size, and when it was last written."""


def walk(root: Path, prefix: str, after: str | None) -> Iterator[Found]:
    """Files whose name starts with `prefix` and follows `after`, ordered by name."""
    return _walk(root, "", prefix, after)


def _walk(folder: Path, base: str, prefix: str, after: str | None) -> Iterator[Found]:
    entries = []
    with suppress(FileNotFoundError), os.scandir(folder) as listing:  # emptied by someone else
        entries = [(_sort_name(entry, base), entry) for entry in listing]
    for name, entry in sorted(entries, key=lambda pair: pair[0]):
        if entry.name.startswith("."):
            continue
        if name.endswith("/"):
            if _may_hold(name, prefix, after):
                yield from _walk(Path(entry.path), name, prefix, after)
        elif name.startswith(prefix) and (after is None or name > after):
            with suppress(FileNotFoundError):
                stat = entry.stat()
                yield name, stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC)


def _sort_name(entry: os.DirEntry[str], base: str) -> str:
    # The slash takes part in the order: `a-b` comes before `a/b`, though `a` comes before `a-b`.
    return f"{base}{entry.name}/" if entry.is_dir(follow_symlinks=False) else base + entry.name


def _may_hold(folder: str, prefix: str, after: str | None) -> bool:
    in_prefix = folder.startswith(prefix) or prefix.startswith(folder)
    return in_prefix and (after is None or folder > after or after.startswith(folder))
