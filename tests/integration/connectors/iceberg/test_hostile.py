"""Metadata that is damaged or made to harm: its table fails, and nothing else happens."""

import copy
import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.iceberg import open_at
from tests.support.lakehouse import iceberg_root

from floecat.connectors.iceberg import avro, documents
from floecat.connectors.iceberg.factory import FILESYSTEM
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.errors import BrokenTableError, ConnectorError
from floecat.connectors.spi.records import SnapshotEnumerationOptions

ALL = SnapshotEnumerationOptions(full_rescan=True)
WHERE = ("ns",), "t"
SEEDS = 150
WRONG: tuple[Any, ...] = (None, "nonsense", -1, 2**70, [], {}, [{}], {"a": 1})


class Table:
    """A table in a folder of the test, over files of a committed one."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder = folder / "ns" / "t" / "metadata"
        self.folder.mkdir(parents=True)
        self.root = folder
        files = (iceberg_root() / "warehouse" / source / "metadata").glob("v*.metadata.json")
        newest = max(files, key=lambda path: int(path.name[1:].partition(".")[0]))
        self.document: Any = json.loads(newest.read_text())

    def write(self, document: Any) -> None:
        (self.folder / "v1.metadata.json").write_text(json.dumps(document))

    def use(self) -> int:
        """Everything a connector does with a table; how many files there were."""
        connector = open_at(FILESYSTEM, str(self.root), self.root)
        with connector:
            current = connector.describe(*WHERE).current_snapshot_id
            list(connector.enumerate_snapshots(*WHERE, ALL))
            if current is None:
                return 0
            list(connector.capture_snapshot_target_stats(*WHERE, current, ColumnScope()))
            return len(list(connector.plan_snapshot_files(*WHERE, current).data_files))

    def fails_alone(self) -> bool:
        """Whether using it failed, in the only way that is allowed."""
        try:
            self.use()
        except ConnectorError:
            return True
        return False


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path, "deletes/position")


def current_snapshot(document: Any) -> Any:
    wanted = document["current-snapshot-id"]
    return next(s for s in document["snapshots"] if s["snapshot-id"] == wanted)


def mutilated(document: Any) -> Iterator[Any]:
    """The document with each part in turn missing, or something else."""
    for path in _paths(document, ()):
        for other in WRONG:
            changed = copy.deepcopy(document)
            holder = changed
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = other
            yield changed


def _paths(part: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    steps = part.items() if isinstance(part, dict) else enumerate(part[:1])
    for step, inner in steps:
        yield (*path, step)
        if isinstance(inner, dict | list):
            yield from _paths(inner, (*path, step))


def flipped(data: bytes, seed: int) -> bytes:
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    if chance.random() < 0.3:
        del changed[chance.randrange(len(changed)) :]
    return bytes(changed)


def test_the_table_is_sound_before_anything_is_done_to_it(table: Table) -> None:
    table.write(table.document)
    assert table.use() == 5


@pytest.mark.slow
def test_every_part_of_the_metadata_may_be_wrong(table: Table) -> None:
    document = table.document
    document["snapshots"] = [current_snapshot(document)]
    document["snapshot-log"] = document["snapshot-log"][-1:]
    document["metadata-log"] = []
    failed = 0
    for changed in mutilated(document):
        table.write(changed)
        failed += table.fails_alone()
    assert failed > 100


def test_a_damaged_manifest_list(table: Table) -> None:
    snapshot = current_snapshot(table.document)
    data = Path(snapshot["manifest-list"].removeprefix("file:")).read_bytes()
    copy_of_list = table.folder / "list.avro"
    snapshot["manifest-list"] = str(copy_of_list)
    table.write(table.document)
    failed = 0
    for seed in range(SEEDS):
        copy_of_list.write_bytes(flipped(data, seed))
        failed += table.fails_alone()
    assert failed > SEEDS / 3


def test_damaged_manifests(table: Table) -> None:
    """Version 1 names manifests in the metadata itself, so that one of ours can be put there."""
    snapshot = current_snapshot(table.document)
    manifest = next((iceberg_root() / "warehouse/deletes/position/metadata").glob("*-m0.avro"))
    data, mine = manifest.read_bytes(), table.folder / "manifest.avro"
    del snapshot["manifest-list"]
    snapshot["manifests"] = [str(mine)]
    table.write(table.document)
    mine.write_bytes(data)
    assert table.use() > 0
    failed = 0
    for seed in range(SEEDS):
        mine.write_bytes(flipped(data, seed))
        failed += table.fails_alone()
    assert failed > SEEDS / 3


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_manifest_list_that_ends_too_early(table: Table, share: float) -> None:
    snapshot = current_snapshot(table.document)
    data = Path(snapshot["manifest-list"].removeprefix("file:")).read_bytes()
    short = table.folder / "short.avro"
    short.write_bytes(data[: int(len(data) * share)])
    snapshot["manifest-list"] = str(short)
    table.write(table.document)
    with pytest.raises(BrokenTableError):
        table.use()


def test_types_nested_beyond_reason(table: Table) -> None:
    kind: Any = "int"
    for number in range(200):
        kind = {
            "type": "list",
            "element-id": 1000 + number,
            "element": kind,
            "element-required": True,
        }
    table.document["schemas"][-1]["fields"].append(
        {"id": 999, "name": "deep", "required": False, "type": kind}
    )
    table.write(table.document)
    with pytest.raises(BrokenTableError, match="deeper"):
        table.use()


def test_json_nested_beyond_reason(table: Table) -> None:
    (table.folder / "v1.metadata.json").write_text('{"a":' * 100_000)
    with pytest.raises(BrokenTableError):
        table.use()


def test_parents_that_go_round_in_a_circle(table: Table) -> None:
    snapshots = table.document["snapshots"]
    snapshots[0]["parent-snapshot-id"] = snapshots[-1]["snapshot-id"]
    table.write(table.document)
    with open_at(FILESYSTEM, str(table.root), table.root) as connector:
        found = [bundle.snapshot_id for bundle in connector.enumerate_snapshots(*WHERE, ALL)]
    assert sorted(found) == sorted(snapshot["snapshot-id"] for snapshot in snapshots)


def test_metadata_that_grows_without_end(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 100_000)
    bomb = gzip.compress(b'{"a": "' + b"a" * 1_000_000 + b'"}')
    (table.folder / "v1.gz.metadata.json").write_bytes(bomb)
    with pytest.raises(BrokenTableError, match="larger"):
        table.use()


def _number(value: int) -> bytes:
    value <<= 1
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _container(schema: Any, codec: bytes, count: int, payload: bytes) -> bytes:
    entries = {b"avro.schema": json.dumps(schema).encode(), b"avro.codec": codec}
    header = b"".join(_number(len(p)) + p for entry in entries.items() for p in entry)
    sync = b"s" * 16
    block = _number(count) + _number(len(payload)) + payload + sync
    return b"Obj\x01" + _number(len(entries)) + header + b"\0" + sync + block


def _deflate(data: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(data) + squeeze.flush()


PATH = {"name": "manifest_path", "type": "string", "field-id": 500}
ENDLESS = {
    "type": "record",
    "name": "r",
    "fields": [{"name": "again", "type": "r", "field-id": 500}],
}
CONTAINERS: dict[str, Callable[[], bytes]] = {
    "more records than bytes": lambda: _container(
        {"type": "record", "name": "r", "fields": []}, b"null", 2**40, b"x"
    ),
    "a string longer than the file": lambda: _container(
        {"type": "record", "name": "r", "fields": [PATH]}, b"null", 1, _number(2**40)
    ),
    "a record within itself": lambda: _container(ENDLESS, b"null", 1, b"x"),
    "an unknown codec": lambda: _container(ENDLESS, b"rot13", 1, b"x"),
    "a block that grows": lambda: _container(
        {"type": "record", "name": "r", "fields": [PATH]}, b"deflate", 1, _deflate(b"a" * 10**6)
    ),
    "an unknown type": lambda: _container({"type": "soup"}, b"null", 1, b"x"),
    "no schema at all": lambda: _container(None, b"null", 1, b"x"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_avro_made_to_harm(table: Table, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro, "_MAX_BLOCK_BYTES", 100_000)
    harmful = table.folder / "harmful.avro"
    harmful.write_bytes(CONTAINERS[name]())
    current_snapshot(table.document)["manifest-list"] = str(harmful)
    table.write(table.document)
    with pytest.raises(BrokenTableError):
        table.use()


@pytest.mark.parametrize(
    "path", ["file:///etc/passwd", "/etc/passwd", "http://169.254.169.254/x", "ftp://x/y"]
)
def test_a_manifest_list_outside_the_roots_breaks_its_table(table: Table, path: str) -> None:
    document = copy.deepcopy(table.document)
    current_snapshot(document)["manifest-list"] = path
    table.write(document)
    with pytest.raises(BrokenTableError):
        table.use()


@pytest.mark.parametrize("path", ["file:///etc/passwd", "http://169.254.169.254/x"])
def test_statistics_outside_the_roots_are_left_out(table: Table, path: str) -> None:
    document = copy.deepcopy(table.document)
    table.write(document)
    files = table.use()
    document["statistics"] = [
        {
            "snapshot-id": document["current-snapshot-id"],
            "statistics-path": path,
            "file-size-in-bytes": 1,
            "file-footer-size-in-bytes": 1,
            "blob-metadata": [],
        }
    ]
    table.write(document)
    assert table.use() == files
