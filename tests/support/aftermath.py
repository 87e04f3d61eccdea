"""What a store holds when all is over: everything once, nothing left behind, all of it fitting."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.lake import Lake

from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot
from floecat.administration import find_inconsistencies, opened_stores
from floecat.settings.load import load_settings
from floecat.settings.model import Settings
from floecat.storage.kv.port import Key, Record

PASSING = frozenset(
    {"ready", "lease", "lane", "parked", "expand", "open", "dedupe", "cancel", "gate"}
)
"""Areas of the queue that are empty when nothing goes on."""

_RESTLESS = frozenset({"scheduler", "turn", "expiry"})
"""Who schedules, and rows that only say where to look: removed when somebody has looked."""


@dataclass
class Aftermath:
    """The records of a store that tests ask about."""

    tables: int = 0
    mirrors: int = 0
    snapshots: Counter[int] = field(default_factory=Counter)
    finalized: Counter[int] = field(default_factory=Counter)
    generations: set[int] = field(default_factory=set)
    """How often snapshots were published."""
    runs: int = 0
    left_behind: list[str] = field(default_factory=list)

    def take(self, record: Record) -> None:
        area = record.key.partition.partition("/")[0]
        sort = record.key.sort
        match area:
            case "resource" if sort.startswith("table/"):
                self.tables += 1
            case "mirrors":
                self.mirrors += 1
            case "snapshot":
                self.snapshots[int(sort)] += 1
            case "final":
                self.finalized[int(sort)] += 1
                self.generations.add(FinalSnapshot.FromString(record.value).generation)
            case "roots":
                self.runs += 1
            case passing if passing in PASSING:
                self.left_behind.append(f"{record.key.partition} {sort}")


def aftermath(folder: Path) -> Aftermath:
    """What the store in a service's folder holds."""
    found = Aftermath()
    with opened_stores(_settings(folder)) as stores:
        for record in stores.kv.dump():
            found.take(record)
    return found


def contents(folder: Path) -> dict[Key, tuple[bytes, int]]:
    """Every record, but for those that the service writes when nothing happens."""
    with opened_stores(_settings(folder)) as stores:
        return {
            record.key: (record.value, record.version)
            for record in stores.kv.dump()
            if record.key.partition.partition("/")[0] not in _RESTLESS
        }


def check_exact(folder: Path, lake: Lake) -> Aftermath:
    """All that the lake has is mirrored and published, once; and `floecat admin check` is clean."""
    found = aftermath(folder)
    upstream = Counter(lake.snapshot_ids())
    assert found.tables == found.mirrors == len(lake.table_names())
    assert found.snapshots == upstream
    assert found.finalized == upstream
    assert not found.left_behind
    assert not inconsistencies(folder)
    return found


def inconsistencies(folder: Path) -> list[str]:
    """What `floecat admin check` finds."""
    return [f"{one.key}: {one.problem}" for one in find_inconsistencies(_settings(folder))]


def _settings(folder: Path) -> Settings:
    environment = {"FLOECAT_DATA_DIR": str(folder / "data")}
    return load_settings(environment, folder / "empty.toml").settings
