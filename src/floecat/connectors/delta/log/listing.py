"""Which versions a log has, and which checkpoints to start from."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from floecat.connectors.delta.log.storage import LogFile, TableFiles
from floecat.connectors.spi.errors import UpstreamGoneError

LOG: Final = "_delta_log"
_COMMIT: Final = re.compile(r"(\d{20})\.json")
_CHECKPOINT: Final = re.compile(
    r"(?P<version>\d{20})\.checkpoint"
    r"(?:\.(?P<part>\d{10})\.(?P<parts>\d{10})|\.(?P<id>[0-9a-fA-F-]{36}))?"
    r"\.(?P<format>parquet|json)"
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint: one file, several parts, or one with sidecars."""

    version: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogListing:
    """What lies in the log's folder."""

    commits: Mapping[int, LogFile]
    checkpoints: Mapping[int, Checkpoint] = field(default_factory=dict)

    @property
    def latest(self) -> int:
        """The newest version."""
        return max((*self.commits, *self.checkpoints))

    def versions(self) -> list[int]:
        """Versions whose state can be told: from a checkpoint, or the beginning, without a gap."""
        told: list[int] = []
        for version in sorted({*self.commits, *self.checkpoints}):
            follows = version in self.commits and (
                version == 0 or bool(told and told[-1] == version - 1)
            )
            if follows or version in self.checkpoints:
                told.append(version)
        return told

    def start(self, version: int) -> Checkpoint | None:
        """The newest checkpoint not after a version; None if there is none."""
        found = [number for number in self.checkpoints if number <= version]
        return self.checkpoints[max(found)] if found else None

    def committed_at(self, version: int) -> datetime | None:
        """When the commit's file was written."""
        commit = self.commits.get(version)
        return commit.modified_at if commit else None


def commit_name(version: int) -> str:
    """The file of a commit, below the table's root."""
    return f"{LOG}/{version:020}.json"


def list_log(files: TableFiles) -> LogListing:
    """List a log. `UpstreamGoneError` when there is none, or not any more."""
    found = files.list(LOG)
    commits = {int(m[1]): f for f in found if (m := _COMMIT.fullmatch(f.name))}
    listing = LogListing(commits, _checkpoints(found))
    if not listing.versions():
        raise UpstreamGoneError(f"there is no delta table at {files.root}")
    return listing


def _checkpoints(found: Iterable[LogFile]) -> dict[int, Checkpoint]:
    """The checkpoints that are whole. Of several of one version any is as good as another."""
    parts: dict[tuple[int, int], dict[int, str]] = {}
    whole: dict[int, Checkpoint] = {}
    for file in found:
        match = _CHECKPOINT.fullmatch(file.name)
        if match is None:
            continue
        version, path = int(match["version"]), f"{LOG}/{file.name}"
        if match["part"] is None:
            whole[version] = Checkpoint(version, (path,))
        else:
            parts.setdefault((version, int(match["parts"])), {})[int(match["part"])] = path
    for (version, count), paths in parts.items():
        if len(paths) == count:
            whole.setdefault(version, Checkpoint(version, tuple(paths[n] for n in sorted(paths))))
    return whole
