"""What a run has done: the parts that are named add up to the whole."""

import pytest

from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from floecat.cli.counter_texts import counters_text


@pytest.mark.parametrize(
    ("counters", "line"),
    [
        (
            ReconcileCounters(jobs_total=22, jobs_succeeded=10, jobs_failed=9, jobs_cancelled=3),
            "22 jobs (10 done, 9 failed, 3 cancelled)",
        ),
        (ReconcileCounters(jobs_total=13, jobs_cancelled=13), "13 jobs (13 cancelled)"),
        (
            ReconcileCounters(jobs_total=5, jobs_succeeded=1, jobs_skipped=1),
            "5 jobs (1 done, 1 skipped, 3 left)",
        ),
        (ReconcileCounters(jobs_total=1, jobs_succeeded=1), "1 job (1 done)"),
        (ReconcileCounters(files_total=72), "72 files (72 left)"),
        (
            ReconcileCounters(
                files_total=1011, files_completed=1002, files_failed=1, files_reused=3
            ),
            "1,011 files (1,002 done, 3 used again, 1 failed, 5 left)",
        ),
        # A group's job has no files in total, only those that it read.
        (ReconcileCounters(files_completed=3, files_failed=1), "4 files (3 done, 1 failed)"),
        (ReconcileCounters(tables_scanned=11, tables_changed=6), "11 tables (6 changed)"),
        (ReconcileCounters(snapshots_processed=2), "2 snapshots (2 recorded)"),
        (
            ReconcileCounters(snapshots_processed=2, stats_processed=3),
            "3 snapshots (2 recorded, 3 captured)",
        ),
    ],
)
def test_parts_add_up(counters: ReconcileCounters, line: str) -> None:
    assert counters_text(counters) == [line]
