"""Which of an upstream's snapshots a run records, and which it captures."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ai.floedb.floecat.reconciler.reconciler_pb2 import SnapshotSelection
from floecat.connectors.spi.records import SnapshotBundle, SnapshotEnumerationOptions


class _Moment(NamedTuple):
    """Where a snapshot stands in time: the upstream's own order decides between equals."""

    created_at: datetime
    ordinal: int
    snapshot_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotChoice:
    """What was asked for, and what is there already."""

    selection: SnapshotSelection
    current: int | None
    full_rescan: bool = False
    known: frozenset[int] = frozenset()
    finalized: frozenset[int] = frozenset()
    captures: bool = False

    def options(self) -> SnapshotEnumerationOptions:
        """What to ask the connector for: as little as answers the question."""
        if self.full_rescan:
            return SnapshotEnumerationOptions(full_rescan=True)
        match self.selection.WhichOneof("which"):
            case "latest_n":
                return SnapshotEnumerationOptions()  # which are the newest, only all of them tell
            case "ids":
                wanted = frozenset(self.selection.ids.snapshot_ids)
                return SnapshotEnumerationOptions(target_snapshot_ids=wanted - self._done())
            case "all":
                return SnapshotEnumerationOptions(known_snapshot_ids=self._done())
            case _:
                wanted = frozenset() if self.current is None else frozenset({self.current})
                return SnapshotEnumerationOptions(target_snapshot_ids=wanted - self._done())

    @property
    def sees_everything(self) -> bool:
        """Whether the connector is asked for every snapshot that there is."""
        options = self.options()
        limited = options.target_snapshot_ids is not None or options.known_snapshot_ids
        return options.full_rescan or not limited

    def is_selected(self, snapshot_id: int) -> bool:
        """Whether a snapshot was asked for, the newest n aside."""
        match self.selection.WhichOneof("which"):
            case "latest_n" | "all":
                return True
            case "ids":
                return snapshot_id in self.selection.ids.snapshot_ids
            case _:
                return snapshot_id == self.current

    def is_recorded(self, snapshot_id: int) -> bool:
        """Whether a selected snapshot is to be recorded."""
        return self.full_rescan or snapshot_id not in self.known

    def is_captured(self, snapshot_id: int) -> bool:
        """Whether a selected snapshot is to be captured."""
        return self.captures and (self.full_rescan or snapshot_id not in self.finalized)

    def _done(self) -> frozenset[int]:
        """Snapshots that there is nothing left to do about."""
        return self.known & self.finalized if self.captures else self.known


@dataclass(slots=True)
class Selecting:
    """Goes through the snapshots of an upstream once, parents first."""

    choice: SnapshotChoice
    seen: list[int] = field(default_factory=list)
    """Every snapshot that the upstream has told of."""
    _captured: list[_Moment] = field(default_factory=list)

    def recorded(self, bundles: Iterable[SnapshotBundle]) -> Iterator[SnapshotBundle]:
        """The snapshots to record, in the upstream's order."""
        for moment, bundle in self._selected(bundles):
            if self.choice.is_captured(bundle.snapshot_id):
                self._captured.append(moment)
            if self.choice.is_recorded(bundle.snapshot_id):
                yield bundle

    @property
    def captured(self) -> Sequence[int]:
        """The snapshots to capture, newest first. Known once all have gone by."""
        return [moment.snapshot_id for moment in sorted(self._captured, reverse=True)]

    def _selected(
        self, bundles: Iterable[SnapshotBundle]
    ) -> Iterator[tuple[_Moment, SnapshotBundle]]:
        placed = self._placed(bundles)
        if self.choice.selection.WhichOneof("which") != "latest_n":
            return placed
        newest = heapq.nlargest(self.choice.selection.latest_n, placed, key=lambda pair: pair[0])
        return iter(sorted(newest, key=lambda pair: pair[0].ordinal))

    def _placed(
        self, bundles: Iterable[SnapshotBundle]
    ) -> Iterator[tuple[_Moment, SnapshotBundle]]:
        for ordinal, bundle in enumerate(bundles):
            self.seen.append(bundle.snapshot_id)
            if self.choice.is_selected(bundle.snapshot_id):
                yield _Moment(bundle.created_at, ordinal, bundle.snapshot_id), bundle
