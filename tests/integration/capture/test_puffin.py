"""Iceberg's own `compute_table_stats` left sketches: ours of the same values are the same."""

import pytest
from tests.support.connectors import open_connector
from tests.support.lakehouse import iceberg_root, iceberg_truth

from ai.floedb.floecat.catalog.stats_pb2 import SR_NDV, FileIdentity
from ai.floedb.floecat.execution.capture_pb2 import CapturePolicy, PlannedFile
from floecat.capture.files import capture_file
from floecat.capture.policies import file_policy
from floecat.connectors.spi.columns import ColumnScope
from floecat.sketches.theta import ThetaSketch

TABLE = iceberg_truth()["warehouse"]["tables"]["statistics.theta"]


@pytest.mark.parametrize("column_id", [1, 2, 3, 4], ids=["long", "string", "date", "decimal"])
def test_sketches_of_the_same_values_are_the_same(column_id: int) -> None:
    root = iceberg_root()
    statistics = max(TABLE["statistics_files"], key=lambda file: len(file["blobs"]))
    snapshot_id = int(statistics["snapshot_id"])
    everything = ColumnScope((), {})
    with open_connector("iceberg-filesystem", f"file:{root}/warehouse", roots=[root]) as connector:
        at = (("statistics",), "theta", snapshot_id)
        records = list(connector.capture_snapshot_target_stats(*at, everything))
        bundle = connector.plan_snapshot_files(*at)
        access = connector.file_access(("statistics",), "theta")
        policy = file_policy(CapturePolicy(), everything.selected(bundle.columns))
        rows = []
        for file in bundle.data_files:
            identity = FileIdentity(file_path=file.file_path, size_bytes=file.file_size_bytes)
            found = capture_file(access, PlannedFile(file=file, identity=identity), policy)
            rows.append(found.rows[column_id])
    [theirs] = [
        sketch.data
        for record in records
        if record.target.column.column_id == column_id
        for sketch in record.scalar.sketches
        if sketch.role == SR_NDV
    ]
    ours = ThetaSketch.union(ThetaSketch.from_bytes(row.theta or b"") for row in rows)
    other = ThetaSketch.from_bytes(theirs)
    assert ours.estimate == other.estimate > 0
    assert list(ours.hashes) == list(other.hashes)
