"""What is planned of a file that is known, when its columns have other types by now."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from tests.support.captures import planned, wanted, written
from tests.support.segmenting import blobs_in, written_segment
from tests.support.segments import TABLE

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from ai.floedb.floecat.execution.stored_pb2 import HeldSegment
from floecat.artifacts.index.building import ScanIndexBuilder
from floecat.artifacts.index.covered import CoveredFiles
from floecat.artifacts.index.deletes import FileDeletes
from floecat.artifacts.index.rows import NewRow, SegmentUse
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.sidecars import mean_the_same
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.types.messages import to_message
from floecat.types.parse import parse_type
from floecat.worker.reuse import Reuse

ROWS = pa.table(
    {
        "id": [1, 2],
        "price": pa.array([Decimal("1.50"), Decimal("2.25")], pa.decimal128(9, 2)),
        "day": [date(2024, 2, 29), date(2024, 3, 1)],
        "name": ["a", "b"],
    }
)
ID, PRICE, DAY, NAME = 1, 2, 3, 4
COLUMNS = wanted(ROWS.schema)
PAGES = tuple(replace(c, ndv=False, quantiles=False, frequent_items=False) for c in COLUMNS)


class Known:
    """A file that everything is known of, in the types that it was written with."""

    def __init__(self, folder: Path, columns: tuple[WantedColumn, ...] = COLUMNS) -> None:
        self.file = written(folder, ROWS, write_page_index=True)
        self.blobs = blobs_in(folder)
        segment = written_segment(folder, [self.file], FilePolicy(columns=columns))
        held = HeldSegment(segment_id=segment.segment_id, manifest=segment.manifest)
        self.opened = OpenedSegments(self.blobs)
        manifest = self.opened.open(held).manifest
        builder = ScanIndexBuilder(self.blobs, "captures/index", self.opened.open)
        plan = planned(self.file)
        use = SegmentUse(held, 0, manifest.shapes[0])
        row = NewRow(identity=plan.identity, scan_file=plan.file, row_count=2, uses=[use])
        builder.add(row, FileDeletes())
        self.index = builder.finish(TABLE, 1, [])

    def plan(
        self, types: Mapping[int, str], columns: tuple[WantedColumn, ...] = ()
    ) -> tuple[PlannedFile, bool]:
        """The file as the next capture plans it, and whether nothing of it is to be read."""
        now = {c.column_id: c.logical_type for c in COLUMNS}
        now |= {number: parse_type(text) for number, text in types.items()}
        policy = FilePolicy(
            columns=tuple(replace(c, logical_type=now[c.column_id]) for c in columns)
        )
        covered = CoveredFiles.open(self.blobs, self.index)
        messages = {number: to_message(logical) for number, logical in now.items()}
        plan = planned(self.file)
        is_known = Reuse(covered, self.opened, policy, messages).apply(plan)
        return plan, is_known


@pytest.fixture
def known(tmp_path: Path) -> Known:
    return Known(tmp_path)


def kept(plan: PlannedFile) -> list[int]:
    assert plan.sidecar.artifact.uri, "the older sidecar is named"
    return list(plan.sidecar.coverage.column_ids)


@pytest.mark.parametrize("columns", [(), COLUMNS, PAGES], ids=["none", "all", "pages"])
def test_without_a_change_nothing_is_read(known: Known, columns: tuple[WantedColumn, ...]) -> None:
    plan, is_known = known.plan({}, columns)
    assert is_known
    assert not plan.column_ids
    assert not plan.HasField("sidecar")


@pytest.mark.parametrize(
    ("column", "now"), [(PRICE, "DECIMAL(18,4)"), (DAY, "TIMESTAMP"), (ID, "DECIMAL(20,2)")]
)
@pytest.mark.parametrize("columns", [(), COLUMNS, PAGES], ids=["none", "all", "pages"])
def test_bounds_of_a_widened_column_arent_taken_over(
    known: Known, column: int, now: str, columns: tuple[WantedColumn, ...]
) -> None:
    plan, is_known = known.plan({column: now}, columns)
    assert not is_known
    assert list(plan.column_ids) == [column]
    assert kept(plan) == [number for number in (ID, PRICE, DAY, NAME) if number != column]


def test_it_is_so_too_when_another_column_is_read_anyway(known: Known) -> None:
    finer = replace(COLUMNS[NAME - 1], source_type="other", logical_type=parse_type("BINARY"))
    plan, _ = known.plan({PRICE: "DECIMAL(18,4)", NAME: "BINARY"}, (finer,))
    assert sorted(plan.column_ids) == [PRICE, NAME]
    assert kept(plan) == [ID, DAY]


def test_more_digits_before_the_point_change_nothing(known: Known) -> None:
    plan, is_known = known.plan({PRICE: "DECIMAL(18,2)"})
    assert is_known
    assert not plan.HasField("sidecar")


def test_a_file_without_pages_has_none_to_renew(tmp_path: Path) -> None:
    known = Known(tmp_path, tuple(replace(c, page_index=False) for c in COLUMNS))
    plan, is_known = known.plan({PRICE: "DECIMAL(18,4)"})
    assert is_known
    assert not plan.column_ids


@pytest.mark.parametrize(
    ("older", "newer", "same"),
    [
        ("INT", "INT", True),
        ("DECIMAL(9,2)", "DECIMAL(38,2)", True),
        ("DECIMAL(9,2)", "DECIMAL(11,4)", False),
        ("DECIMAL(9)", "DECIMAL(9,2)", False),
        ("INT", "DECIMAL(10,0)", False),
        ("INT", "DOUBLE", False),
        ("FLOAT", "DOUBLE", False),
        ("DATE", "TIMESTAMP", False),
        ("TIMESTAMP", "TIMESTAMPTZ", False),
        ("BINARY", "STRING", False),
    ],
)
def test_what_changes_the_meaning_of_bounds(older: str, newer: str, same: bool) -> None:
    types = to_message(parse_type(older)), to_message(parse_type(newer))
    assert mean_the_same(*types) == same
