"""What a run has done, in numbers whose parts add up to the whole."""

from collections.abc import Iterable, Mapping, Sequence

from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters


def counters_text(counters: ReconcileCounters) -> list[str]:
    """What was done, a line per sort of thing."""
    return [line for line in _counter_lines(counters) if line]


def _counter_lines(counters: ReconcileCounters) -> Iterable[str]:
    yield _line("job", counters.jobs_total, _counted(_job_parts(counters)))
    yield _line("table", counters.tables_scanned, _counted({"changed": counters.tables_changed}))
    yield _line("view", counters.views_scanned, _counted({"changed": counters.views_changed}))
    recorded, captured = counters.snapshots_processed, counters.stats_processed
    parts = _counted({"recorded": recorded, "captured": captured})
    yield _line("snapshot", max(recorded, captured), parts)
    # The job of a group knows only what it did; how many files there are is its snapshot's to say.
    files = max(counters.files_total, files_done(counters))
    yield _line("file", files, _counted(_file_parts(counters)))
    yield _line("row", counters.rows_processed)


def _job_parts(counters: ReconcileCounters) -> dict[str, int]:
    return _with_rest(
        counters.jobs_total,
        {
            "done": counters.jobs_succeeded,
            "skipped": counters.jobs_skipped,
            "failed": counters.jobs_failed,
            "cancelled": counters.jobs_cancelled,
        },
    )


def _file_parts(counters: ReconcileCounters) -> dict[str, int]:
    return _with_rest(
        counters.files_total,
        {
            "done": counters.files_completed,
            "used again": counters.files_reused,
            "failed": counters.files_failed,
        },
    )


def files_done(counters: ReconcileCounters) -> int:
    """Files that nothing is left to do about, however they went."""
    return counters.files_completed + counters.files_reused + counters.files_failed


def _with_rest(total: int, parts: Mapping[str, int]) -> dict[str, int]:
    """Parts that add up to the whole."""
    return {**parts, "left": total - sum(parts.values())}


def _counted(parts: Mapping[str, int]) -> list[str]:
    """Those of which there are some."""
    return [f"{count:,} {word}" for word, count in parts.items() if count > 0]


def _line(what: str, count: int, notes: Sequence[str] = ()) -> str:
    if not count:
        return ""
    counted = f"{count:,} {what}{'' if count == 1 else 's'}"
    return counted + (f" ({', '.join(notes)})" if notes else "")
