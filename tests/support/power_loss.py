"""A disk that forgets what wasn't synced: an SQLite VFS, and what would be left at any moment."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import apsw
from typing_extensions import override

SECTOR = 512

Survives: TypeAlias = Callable[[], bool]
"""Whether one unsynced sector happened to reach the disk."""


def nothing_survives() -> bool:
    return False


def half_survives(seed: int) -> Survives:
    randomly = random.Random(seed)
    return lambda: randomly.random() < 0.5


@dataclass(slots=True)
class _File:
    durable: bytearray = field(default_factory=bytearray)
    exists: bool = False
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Unsynced writes, in order: an offset and bytes, or a new length and None."""

    def sync(self) -> None:
        for offset, data in self.pending:
            _apply(self.durable, offset, data)
        self.pending.clear()
        self.exists = True

    def after_power_loss(self, survives: Survives) -> bytes:
        left = bytearray(self.durable)
        for offset, data in self.pending:
            if data is None:
                if survives():
                    _apply(left, offset, None)
                continue
            for start in range(0, len(data), SECTOR):
                if survives():
                    _apply(left, offset + start, data[start : start + SECTOR])
        return bytes(left)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    if len(content) < offset + len(data):
        content.extend(bytes(offset + len(data) - len(content)))
    content[offset : offset + len(data)] = data


class ForgetfulDisk:
    """Which bytes of which files are safe. `at_sync` is called before and after every sync."""

    def __init__(self) -> None:
        self.files: dict[str, _File] = {}
        self.at_sync: Callable[[], None] = lambda: None
        self.syncs: Counter[str] = Counter()

    def leave(self, folder: Path, survives: Survives) -> None:
        """Write what would be found after a power loss now."""
        for name, file in self.files.items():
            left = file.after_power_loss(survives)
            if file.exists or left:
                (folder / Path(name).name).write_bytes(left)


class ForgetfulVfs(apsw.VFS):
    """Passes everything to the real file system and tells the disk."""

    def __init__(self, name: str, disk: ForgetfulDisk) -> None:
        self.disk = disk
        super().__init__(name, base="")

    @override
    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "_ForgetfulFile":
        return _ForgetfulFile(self.disk, name, flags)

    @override
    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.disk.files.pop(filename, None)
        super().xDelete(filename, syncdir)


class _ForgetfulFile(apsw.VFSFile):
    def __init__(
        self, disk: ForgetfulDisk, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self._name = Path(path).name
        self._file = disk.files.setdefault(path, _File())
        super().__init__("", name, flags)

    @override
    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._file.pending.append((offset, bytes(data)))

    @override
    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._file.pending.append((newsize, None))

    @override
    def xSync(self, flags: int) -> None:
        self._disk.syncs[self._name] += 1
        self._disk.at_sync()
        self._file.sync()
        self._disk.at_sync()
