"""Backups of an embedded store that is in use, and what becomes of them."""

import json
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.support.capturing import Capturing, files_of
from tests.support.catalog import World
from tests.support.reconciling import Reconciling
from tests.support.waiting import PATIENCE_SECONDS

from ai.floedb.floecat.catalog.index_pb2 import ReadIndexArtifactRequest
from ai.floedb.floecat.catalog.stats_pb2 import ListTargetStatsRequest
from ai.floedb.floecat.catalog.table_pb2 import ListTablesRequest, Table
from ai.floedb.floecat.common.common_pb2 import PageRequest
from floecat.catalog.records import CatalogStores
from floecat.catalog.restore import restore
from floecat.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    IncompatibleStoreError,
    NotFoundError,
)
from floecat.storage.backup import EmbeddedStore, back_up
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.kv.schema import SCHEMA_KEY
from floecat.storage.kv.sqlite.backup import copy_database
from floecat.storage.open import SqliteKeyValueConfig, open_key_value_store

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
WIDE = "x" * 100_000


def place(folder: Path) -> EmbeddedStore:
    folder.mkdir(exist_ok=True)
    return EmbeddedStore(folder / "floecat.db", folder / "blobs")


@contextmanager
def opened(store: EmbeddedStore) -> Iterator[CatalogStores]:
    assert store.blobs is not None
    kv = open_key_value_store(SqliteKeyValueConfig(store.database))
    try:
        yield CatalogStores(kv, FilesystemBlobStore(store.blobs))
    finally:
        kv.close()


def backed_up(store: EmbeddedStore, target: Path) -> Path:
    back_up(store, target, made_by="Floecat test", now=NOW)
    return target


def test_everything_acknowledged_before_a_backup_is_in_it_while_writers_go_on(
    tmp_path: Path,
) -> None:
    original, copy = place(tmp_path / "a"), place(tmp_path / "b")
    acknowledged: list[str] = []
    some, stop = Event(), Event()

    with opened(original) as stores:
        world = World(stores)
        namespace = world.namespace(world.catalog(), "eu")

        def write() -> None:
            while not stop.is_set():
                made = world.table(namespace, f"t{len(acknowledged):05}", schema_json=WIDE)
                world.snapshot(made, 1, attachments={"big": bytes(50_000)})
                acknowledged.append(made.resource_id.id)
                if len(acknowledged) == 20:
                    some.set()

        writer = Thread(target=write)
        writer.start()
        assert some.wait(PATIENCE_SECONDS), "twenty tables are written"
        before = list(acknowledged)
        archive = backed_up(original, tmp_path / "backup.tar")
        assert writer.is_alive()
        stop.set()
        writer.join()
    assert len(acknowledged) > len(before)  # or nothing was tested

    restore(archive, copy, force=False, now=NOW)
    with opened(copy) as stores:
        restored = World(stores, account_id=world.account_id)
        assert restored.findings() == []
        request = ListTablesRequest(
            namespace_id=namespace.resource_id, page=PageRequest(page_size=1000)
        )
        tables: list[Table] = restored.call("TableService/ListTables", request).tables
        assert set(before) <= {table.resource_id.id for table in tables}
        assert all(table.schema_json == WIDE for table in tables)  # blobs came with it


def test_blobs_are_copied_after_the_records_that_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, copy = place(tmp_path / "a"), place(tmp_path / "b")
    with opened(original) as stores:
        world = World(stores)
        namespace = world.namespace(world.catalog(), "eu")

        def copied_late(source: Path, target: Path) -> None:
            world.table(namespace, "late", schema_json=WIDE)  # after the backup began
            copy_database(source, target)

        monkeypatch.setattr("floecat.storage.backup.copy_database", copied_late)
        archive = backed_up(original, tmp_path / "x.tar")
    restore(archive, copy, force=False, now=NOW)
    with opened(copy) as stores:
        assert World(stores, account_id=world.account_id).findings() == []


def test_captures_are_found_where_they_were_restored_to(tmp_path: Path) -> None:
    """Blobs name each other by where they were when they were written."""
    original, copy = place(tmp_path / "a"), place(tmp_path / "b")
    files = files_of(range(7))
    with opened(original) as stores:
        before = Capturing(Reconciling(World(stores)), sidecars=True)
        captured = before.capture(1, files)
        archive = backed_up(original, tmp_path / "x.tar")
    shutil.rmtree(tmp_path / "a")
    restore(archive, copy, force=False, now=NOW)
    with opened(copy) as stores:
        world = World(stores, account_id=before.plane.world.account_id)
        after = Capturing(Reconciling(world, before.plane.connector), snapshots=[1])
        assert after.plane.problems() == []
        request = ListTargetStatsRequest(table_id=captured.table_id)
        listed = world.call("TableStatisticsService/ListTargetStats", request).records
        assert len(listed) == 10
        assert len(listed[2].file.columns) == 2
        read = ReadIndexArtifactRequest(table_id=captured.table_id, file_path=files[0].path)
        assert len(list(world.call("TableIndexService/ReadIndexArtifact", read))) == 2
        again = after.capture(2, files_of(range(2, 9)))
        assert len(again.read) == 2
        assert after.plane.problems() == []


def test_a_restored_store_has_a_higher_incarnation(tmp_path: Path) -> None:
    original, copy = place(tmp_path / "a"), place(tmp_path / "b")
    with opened(original) as stores:
        World(stores)
    restored = restore(backed_up(original, tmp_path / "x.tar"), copy, force=False, now=NOW)
    with opened(copy) as stores:
        record = stores.kv.get(SCHEMA_KEY)
        assert record is not None
        assert json.loads(record.value)["incarnation"] == restored.incarnation == 2


def test_a_store_that_is_there_is_only_put_aside_with_force(tmp_path: Path) -> None:
    original, target = place(tmp_path / "a"), place(tmp_path / "b")
    with opened(original) as stores:
        World(stores).catalog("old")
    archive = backed_up(original, tmp_path / "x.tar")
    with opened(target) as stores:
        there = World(stores)
        there.catalog("new")
    with pytest.raises(AlreadyExistsError, match="--force"):
        restore(archive, target, force=False, now=NOW)
    restored = restore(archive, target, force=True, now=NOW)
    with opened(target) as stores:
        names = [r.key.sort for r in stores.kv.dump() if r.key.partition.startswith("catalogs/")]
    assert names == ["old"]
    kept = EmbeddedStore(*restored.kept)
    with opened(kept) as stores:
        names = [r.key.sort for r in stores.kv.dump() if r.key.partition.startswith("catalogs/")]
    assert names == ["new"]


def test_a_store_in_use_is_never_replaced(tmp_path: Path) -> None:
    store = place(tmp_path / "a")
    with opened(store) as stores:
        World(stores)
        archive = backed_up(store, tmp_path / "x.tar")
        with pytest.raises(FailedPreconditionError, match="stop the service"):
            restore(archive, store, force=True, now=NOW)
        World(stores, account_id="still works").findings()
    assert not list(tmp_path.glob("a/*.before-restore-*"))


def rewritten(archive: Path, target: Path, name: str, content: bytes | None) -> Path:
    """The archive with one member replaced, or without it."""
    folder = target.with_suffix(".folder")
    with tarfile.open(archive) as source:
        source.extractall(folder, filter="data")
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with tarfile.open(target, "w") as made:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                made.add(path, path.relative_to(folder).as_posix())
    return target


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    original = place(tmp_path / "a")
    with opened(original) as stores:
        world = World(stores)
        world.table(world.namespace(world.catalog(), "eu"), "wide", schema_json=WIDE)
    return backed_up(original, tmp_path / "x.tar")


@pytest.mark.parametrize(
    ("name", "content"),
    [("floecat.db", b"garbage"), ("floecat.db", None), ("manifest.json", b"{}")],
)
def test_a_damaged_backup_is_refused_before_anything_is_touched(
    archive: Path, tmp_path: Path, name: str, content: bytes | None
) -> None:
    damaged = rewritten(archive, tmp_path / "y.tar", name, content)
    with pytest.raises(DataLossError):
        restore(damaged, place(tmp_path / "b"), force=False, now=NOW)
    assert list((tmp_path / "b").iterdir()) == []


def test_a_backup_without_one_of_its_blobs_is_refused(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as source:
        [blob] = [name for name in source.getnames() if name.startswith("blobs/records/")]
    damaged = rewritten(archive, tmp_path / "y.tar", blob, None)
    with pytest.raises(DataLossError, match="doesn't fit together"):
        restore(damaged, place(tmp_path / "b"), force=False, now=NOW)
    assert list((tmp_path / "b").iterdir()) == []


def test_half_a_backup_is_refused(archive: Path, tmp_path: Path) -> None:
    half = tmp_path / "half.tar"
    half.write_bytes(archive.read_bytes()[:30_000])
    with pytest.raises(DataLossError):
        restore(half, place(tmp_path / "b"), force=False, now=NOW)


def test_a_backup_from_the_future_says_what_made_it(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as source:
        member = source.extractfile("manifest.json")
        assert member is not None
        manifest = {**json.loads(member.read()), "format": 99, "made_by": "Floecat 9"}
    future = rewritten(archive, tmp_path / "y.tar", "manifest.json", json.dumps(manifest).encode())
    with pytest.raises(IncompatibleStoreError, match="Floecat 9"):
        restore(future, place(tmp_path / "b"), force=False, now=NOW)


def test_backups_never_overwrite_and_need_a_store(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(AlreadyExistsError):
        backed_up(place(tmp_path / "a"), archive)
    with pytest.raises(NotFoundError, match="no store"):
        backed_up(place(tmp_path / "nothing"), tmp_path / "z.tar")
    with pytest.raises(NotFoundError, match="no backup"):
        restore(tmp_path / "z.tar", place(tmp_path / "b"), force=False, now=NOW)
