"""Processes below this one, as /proc tells of them."""

from pathlib import Path

_PROC = Path("/proc")


def _parents() -> dict[int, int]:
    found: dict[int, int] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue  # it has ended meanwhile
            found[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def descendants(pid: int) -> dict[int, str]:
    """Every process that descends from one, with its command line."""
    parents = _parents()
    below = {pid}
    found: dict[int, str] = {}
    while children := {child for child, parent in parents.items() if parent in below} - below:
        below |= children
        for child in children:
            found[child] = command_of(child)
    return found


def command_of(pid: int) -> str:
    """A process's command line; empty once it has ended."""
    try:
        content = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return ""
    return content.replace(b"\0", b" ").decode(errors="replace")


def resident_bytes(pid: int) -> int:
    """The memory that a process has; 0 once it has ended."""
    try:
        pages = (_PROC / str(pid) / "statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * 4096
