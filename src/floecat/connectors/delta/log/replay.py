"""The state of a version: what the table was, and which files it had."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from floecat.connectors.delta.log.actions import (
    Action,
    Add,
    CommitInfo,
    Metadata,
    Protocol,
    Remove,
    read_commit,
)
from floecat.connectors.delta.log.checkpoints import read_adds, read_header
from floecat.connectors.delta.log.listing import LogListing, commit_name, list_log
from floecat.connectors.delta.log.storage import TableFiles
from floecat.connectors.spi.errors import BrokenTableError, UpstreamGoneError


@dataclass(frozen=True, slots=True)
class Version:
    """A version without its files."""

    number: int
    protocol: Protocol
    metadata: Metadata
    info: CommitInfo
    committed_at: datetime


class DeltaLog:
    """One table's log, as it was when it was listed."""

    def __init__(self, files: TableFiles) -> None:
        self.files = files

    @cached_property
    def listing(self) -> LogListing:
        return list_log(self.files)

    def version(self, number: int) -> Version:
        """One version."""
        for version in self.versions(frozenset({number})):
            return version
        if number in self.listing.commits:
            raise BrokenTableError(f"the log of {self.files.root} has a gap before {number}")
        raise UpstreamGoneError(f"{self.files.root} has no version {number}")

    def versions(self, wanted: frozenset[int]) -> Iterator[Version]:
        """The wanted versions that can be told, in order.

        Between two wanted versions with a checkpoint in between, the commits before that aren't
        read.
        """
        told = [number for number in self.listing.versions() if number in wanted]
        header: tuple[Protocol, Metadata] | None = None
        done = -1
        for number in told:
            start = self.listing.start(number)
            if start is not None and start.version > done:
                header, done = read_header(self.files, start), start.version
            info = CommitInfo({})
            for step in range(done + 1, number + 1):
                header, info = self._step(step, header)
            if done == number:
                info = self._info(number)
            done = number
            yield self._told(number, header, info)

    def adds(self, number: int, *, with_statistics: bool = True) -> Iterator[Add]:
        """The files of a version, newest commits first, the checkpoint's last and streamed.

        Memory follows the commits since the checkpoint, not the files of the table.
        """
        start = self.listing.start(number)
        first = start.version + 1 if start else 0
        seen: set[tuple[str, str]] = set()
        for step in range(number, first - 1, -1):
            actions = list(self._commit(step))
            fresh = [a for a in actions if isinstance(a, Add) and a.key not in seen]
            seen.update(a.key for a in actions if isinstance(a, Add | Remove))
            yield from fresh
        if start is not None:
            for add in read_adds(self.files, start, with_statistics=with_statistics):
                if add.key not in seen:
                    yield add

    def _step(
        self, number: int, header: tuple[Protocol, Metadata] | None
    ) -> tuple[tuple[Protocol, Metadata], CommitInfo]:
        protocol, metadata = header or (None, None)
        info = CommitInfo({})
        for action in self._commit(number):
            match action:
                case Protocol():
                    protocol = action
                case Metadata():
                    metadata = action
                case CommitInfo():
                    info = action
                case _:
                    pass
        if protocol is None or metadata is None:
            raise BrokenTableError(f"{self.files.root} has no protocol or metadata at {number}")
        return (protocol, metadata), info

    def _info(self, number: int) -> CommitInfo:
        if number not in self.listing.commits:
            return CommitInfo({})
        found = (a for a in self._commit(number) if isinstance(a, CommitInfo))
        return next(found, CommitInfo({}))

    def _told(
        self, number: int, header: tuple[Protocol, Metadata] | None, info: CommitInfo
    ) -> Version:
        if header is None:
            raise BrokenTableError(f"{self.files.root} has no protocol or metadata at {number}")
        protocol, metadata = header
        protocol.require_readable(self.files.root)
        return Version(number, protocol, metadata, info, self._committed_at(number, metadata, info))

    def _committed_at(self, number: int, metadata: Metadata, info: CommitInfo) -> datetime:
        """The commit's own time where the table keeps one, else its file's."""
        in_commit = metadata.configuration.get("delta.enableInCommitTimestamps") == "true"
        told = _moment(info.in_commit_ms) if in_commit else None
        if told is not None:
            return told
        written = self.listing.committed_at(number)
        if written is not None:
            return written
        return _moment(metadata.created_ms) or datetime.fromtimestamp(0, UTC)

    def _commit(self, number: int) -> Iterator[Action]:
        path = commit_name(number)
        return read_commit(self.files.read(path), f"{self.files.root}/{path}")


def _moment(milliseconds: int | None) -> datetime | None:
    """A time, if it is one that Python knows."""
    if milliseconds is None:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
