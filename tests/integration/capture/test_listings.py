"""A snapshot's files are listed while they are planned, and not by every group again."""

from pathlib import Path

import pytest
from tests.support.counting import counted_calls
from tests.support.lake import Lake, capture, connected, create_connector, mirroring, worker_of

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages

FILES = 5


@pytest.mark.parametrize(
    ("engine", "statistics"), [("inline", 0), ("native", 1)], ids=["inline", "native"]
)
def test_files_are_listed_once_whatever_number_of_groups(
    tmp_path: Path, engine: str, statistics: int
) -> None:
    lake = Lake(tmp_path)
    lake.add("sales.orders", snapshots=FILES)
    groups_of_one = {"reconciler_file_group_max_files": "1"}
    with (
        counted_calls() as calls,
        mirroring(lake, tmp_path, **groups_of_one) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, capture_engine=engine),
    ):
        job = capture(clients, create_connector(clients, lake))
    assert job.state == messages.RJS_SUCCEEDED, job
    assert job.counters.file_groups_completed == job.counters.files_completed == FILES
    assert calls["plan_snapshot_files"] == 1
    assert calls["capture_snapshot_target_stats"] == statistics
