"""Processes that share a store, and processes that are killed while they write to one."""

import hashlib
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.writer_process import COUNTER

from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.kv.port import Key, Record
from floecat.storage.kv.sqlite import SqliteKeyValueStore

ROOT = Path(__file__).parents[2]
KILLS = 200 if os.environ.get("SOAK") else 50


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.writer_process", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def run_together(path: Path, processes: int, times: int) -> None:
    started = [start("count", path, f"process{n}", times) for n in range(processes)]
    for process in started:
        process.communicate(timeout=PATIENCE_SECONDS)
    assert [process.returncode for process in started] == [0] * processes


def test_two_processes_on_one_sqlite_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"  # not there yet: both make it
    run_together(path, processes=2, times=150)
    store = SqliteKeyValueStore(path)
    counter = store.get(COUNTER)
    assert counter is not None
    assert counter.value == b"300"
    own = [record for n in range(2) for record in store.scan(f"process{n}", limit=999)]
    assert sorted(int(record.value) for record in own) == list(range(1, 301))
    store.close()


def test_many_processes_may_make_one_sqlite_file(tmp_path: Path) -> None:
    run_together(tmp_path / "store.db", processes=6, times=1)


def live_and_die(folder: Path, life: int, lines: int) -> list[tuple[str, str]]:
    """What a writer acknowledged before it was killed."""
    with start("endless", folder, f"{life:03}") as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        said += process.stdout.readlines()
    pairs = [line.split() for line in said if line.endswith("\n")]
    return [(kind, name) for kind, name in pairs]


def everything(store: SqliteKeyValueStore, partition: str) -> dict[str, Record]:
    return {r.key.sort: r for r in store.dump() if r.key.partition == partition}


@pytest.mark.slow
def test_killed_writers_lose_nothing_and_leave_nothing_torn(tmp_path: Path) -> None:
    randomly = random.Random(20)
    acknowledged: list[tuple[str, str]] = []
    for life in range(KILLS):
        acknowledged += live_and_die(tmp_path, life, lines=randomly.randint(1, 30))
        store = SqliteKeyValueStore(tmp_path / "store.db")
        kind, name = acknowledged[-1]
        if kind == "record":
            assert store.get(Key("a", name)) is not None
        store.close()
    _check_records(tmp_path, {name for kind, name in acknowledged if kind == "record"})
    _check_blobs(tmp_path, {name for kind, name in acknowledged if kind == "blob"})


def _check_records(folder: Path, acknowledged: set[str]) -> None:
    assert len(acknowledged) > KILLS
    store = SqliteKeyValueStore(folder / "store.db")
    left, right = everything(store, "a"), everything(store, "b")
    assert acknowledged <= left.keys()
    assert left.keys() == right.keys()
    assert all(left[sort].value == right[sort].value for sort in left)
    assert len(left) - len(acknowledged) <= KILLS  # at most one was under way at each kill
    store.close()


def _check_blobs(folder: Path, acknowledged: set[str]) -> None:
    assert len(acknowledged) > KILLS
    store = FilesystemBlobStore(folder / "blobs")
    visible = [info.name for info in store.list(limit=1_000_000)]
    assert acknowledged <= set(visible)
    for name in visible:
        content = (folder / "blobs" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == name.rpartition("-")[2], "a torn blob"
    assert list((folder / "blobs" / ".tmp").iterdir()) == []
