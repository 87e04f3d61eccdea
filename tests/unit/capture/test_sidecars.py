"""A file has one sidecar: columns that are read later join those that were read before."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.support.captures import access_to, planned, wanted, written

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord
from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from floecat.artifacts.payloads import blob_ref
from floecat.artifacts.sidecars import SCHEMA, PageRow, RowBounds, read_sidecar
from floecat.capture.columns import FilePolicy
from floecat.capture.files import capture_file
from floecat.capture.sidecars import write_pages
from floecat.storage.blobs.memory import MemoryBlobStore

TABLE = pa.table(
    {
        "n": np.arange(4000),
        "t": [f"text {n % 300}" for n in range(4000)],
        "few": ["a", "b"] * 2000,
    }
)
POLICY = FilePolicy(columns=wanted(TABLE.schema))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, TABLE, row_group_size=2000, data_page_size=2048, write_page_index=True)


def test_bounds_of_a_row_stand_where_the_row_has_them() -> None:
    start = PageRow._fields.index(RowBounds._fields[0])
    assert PageRow._fields[start : start + len(RowBounds._fields)] == RowBounds._fields
    assert PageRow._fields == tuple(SCHEMA.names)


@pytest.fixture
def blobs() -> MemoryBlobStore:
    return MemoryBlobStore(clock=lambda: datetime.now(UTC))


def write(blobs: MemoryBlobStore, plan: PlannedFile, name: str) -> IndexArtifactRecord:
    folder = Path(plan.identity.file_path).parent
    return write_pages(blobs, name, plan, capture_file(access_to(folder), plan, POLICY))


def rows(blobs: MemoryBlobStore, record: IndexArtifactRecord) -> pa.Table:
    table = read_sidecar(blobs.read(blob_ref(record.artifact)))
    order = [(name, "ascending") for name in ("column_id", "row_group", "page")]
    return table.sort_by(order)


def test_columns_that_are_read_later_join_the_others(blobs: MemoryBlobStore, file: Path) -> None:
    everything = write(blobs, planned(file), "everything")
    some = write(blobs, planned(file, column_ids=[1, 3]), "some")
    later = planned(file, column_ids=[2, 3])
    later.sidecar.CopyFrom(some)
    joined = write(blobs, later, "joined")
    assert joined.coverage == everything.coverage
    assert joined.coverage.page_count > 6, "several pages in some row groups"
    assert rows(blobs, joined).equals(rows(blobs, everything), check_metadata=True)


def test_a_file_without_a_page_index_has_the_same_sidecar_but_for_places(
    blobs: MemoryBlobStore, file: Path, tmp_path: Path
) -> None:
    plain = written(tmp_path, TABLE, "plain.parquet", row_group_size=2000, data_page_size=2048)
    found, indexed = write(blobs, planned(plain), "plain"), write(blobs, planned(file), "indexed")
    assert found.coverage == indexed.coverage
    assert found.coverage.row_groups_without_pages == 0
    places = ["offset", "compressed_size", "boundary_order"]
    shared = rows(blobs, found).drop_columns(places)
    assert shared.equals(rows(blobs, indexed).drop_columns(places))


def test_only_columns_that_the_plan_names_are_taken_over(
    blobs: MemoryBlobStore, file: Path
) -> None:
    some = write(blobs, planned(file, column_ids=[1, 3]), "some")
    later = planned(file, column_ids=[2])
    later.sidecar.CopyFrom(some)
    later.sidecar.coverage.column_ids[:] = [3]  # 1 has another type by now
    joined = write(blobs, later, "joined")
    assert list(joined.coverage.column_ids) == [2, 3]
    assert set(rows(blobs, joined).column("column_id").to_pylist()) == {2, 3}


@pytest.mark.parametrize("damage", ["gone", "torn", "of another file", "elsewhere"])
def test_an_older_one_that_cant_be_used_is_left_out(
    damage: str, blobs: MemoryBlobStore, file: Path
) -> None:
    older = planned(file, column_ids=[1])
    if damage == "of another file":
        other = written(file.parent, TABLE, "other.parquet")
        older = planned(other, column_ids=[1])
    some = write(blobs, older, "some")
    if damage in {"gone", "torn"}:
        blobs.delete("some")
    if damage == "torn":
        with blobs.writer("some") as writer:
            writer.write(b"x" * some.artifact.size_bytes)
    if damage == "elsewhere":
        some.artifact.uri = "s3://other/some"
    later = planned(file, column_ids=[2])
    later.sidecar.CopyFrom(some)
    alone = write(blobs, later, "alone")
    assert list(alone.coverage.column_ids) == [2]
    assert set(rows(blobs, alone).column("column_id").to_pylist()) == {2}


def test_pages_of_a_column_that_nobody_wants_are_renewed_if_the_plan_says_so(
    blobs: MemoryBlobStore, file: Path
) -> None:
    everything = write(blobs, planned(file), "everything")
    footers = tuple(
        replace(c, ndv=False, quantiles=False, frequent_items=False) for c in POLICY.columns
    )
    first = replace(footers[0], page_index=False)
    policy = FilePolicy(columns=(first,), others=footers[1:])
    again = planned(file, column_ids=[1, 2])
    again.sidecar.CopyFrom(everything)
    again.sidecar.coverage.column_ids[:] = [3]
    captured = capture_file(access_to(file.parent), again, policy)
    assert sorted(captured.rows) == [1, 2]
    renewed = write_pages(blobs, "renewed", again, captured)
    assert renewed.coverage == everything.coverage
    whole = capture_file(access_to(file.parent), planned(file), policy)
    assert sorted(whole.rows) == [1], "what isn't named is read only if it is wanted"
    assert whole.page_coverage is None
