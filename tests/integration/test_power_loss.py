"""Losing power at every sync of a scripted run: what was acknowledged is there, whole."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from uuid import uuid4

import pytest
from tests.support.power_loss import (
    ForgetfulDisk,
    ForgetfulVfs,
    Survives,
    half_survives,
    nothing_survives,
)

from floecat.storage.kv.port import ANY, MAX_VALUE_BYTES, Delete, Key, KeyValueStore, Operation, Put
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions

State = dict[str, bytes]

COMMITS = 150


def script() -> Iterator[list[Operation]]:
    """Small commits and large ones (so that the log is checkpointed), overwriting and deleting."""
    for n in range(COMMITS):
        size = MAX_VALUE_BYTES if n % 9 == 4 else 200
        operations: list[Operation] = [
            Put(Key("p", f"{(n * 7 + m) % 40:02}"), bytes([n]) * size, ANY)
            for m in range(n % 4 + 1)
        ]
        if n % 5 == 2:
            operations.append(Delete(Key("p", f"{(n * 7 + 20) % 40:02}"), ANY))
        yield operations


def applied(state: State, operations: list[Operation]) -> State:
    state = dict(state)
    for operation in operations:
        if isinstance(operation, Put):
            state[operation.key.sort] = operation.value
        else:
            state.pop(operation.key.sort, None)
    return state


class Inspector:
    """Looks, at any moment, what a power loss would leave, and remembers what is wrong with it."""

    def __init__(self, disk: ForgetfulDisk, folder: Path, survives: Survives) -> None:
        self._disk = disk
        self._folder = folder
        self._survives = survives
        self.acceptable: list[State] = [{}]
        self.inspected = 0
        self.wrong: list[int] = []

    def inspect(self) -> None:
        self.inspected += 1
        folder = self._folder / f"{self.inspected}"
        folder.mkdir(parents=True)
        self._disk.leave(folder, self._survives)
        if self._found(folder / "store.db") not in self.acceptable:
            self.wrong.append(self.inspected)
        for path in folder.iterdir():
            path.unlink()

    def _found(self, path: Path) -> State:
        store = SqliteKeyValueStore(path, options=SqliteOptions(synchronous="OFF"))
        found = {record.key.sort: record.value for record in store.dump()}
        store.close()
        return found


def run(
    tmp_path: Path, synchronous: Literal["FULL", "OFF"], survives: Survives
) -> tuple[Inspector, ForgetfulDisk]:
    disk = ForgetfulDisk()
    name = f"forgetful-{uuid4().hex}"
    vfs = ForgetfulVfs(name, disk)
    inspector = Inspector(disk, tmp_path / "left", survives)
    disk.at_sync = inspector.inspect
    options = SqliteOptions(synchronous=synchronous, vfs=name)
    store: KeyValueStore = SqliteKeyValueStore(tmp_path / "store.db", options=options)
    state: State = {}
    for operations in script():
        following = applied(state, operations)
        inspector.acceptable = [state, following]  # all or nothing of what is under way
        store.commit(operations)
        state = following
        inspector.acceptable = [state]  # acknowledged
        inspector.inspect()
    store.close()
    vfs.unregister()
    return inspector, disk


@pytest.mark.slow
@pytest.mark.parametrize(
    "survives",
    [
        pytest.param(nothing_survives, id="nothing unsynced survives"),
        *[pytest.param(half_survives(n), id=f"half of it survives ({n})") for n in range(2)],
    ],
)
def test_nothing_acknowledged_is_lost(tmp_path: Path, survives: Survives) -> None:
    inspector, disk = run(tmp_path, "FULL", survives)
    assert disk.syncs["store.db-wal"] >= COMMITS
    assert disk.syncs["store.db"] >= 3  # checkpoints
    assert inspector.inspected > 3 * COMMITS
    assert inspector.wrong == []


@pytest.mark.slow
def test_this_test_sees_a_missing_sync(tmp_path: Path) -> None:
    inspector, _ = run(tmp_path, "OFF", nothing_survives)
    assert len(inspector.wrong) > COMMITS / 2
