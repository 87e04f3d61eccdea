"""Chunks, spools and failures: the parts a result is made of."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.floedb.floecat.catalog.table_pb2 import TableSpec
from ai.floedb.floecat.reconciler.executor_control_pb2 import (
    FCL_OBSOLETE,
    FCL_RETRYABLE,
    FCL_TERMINAL,
    FailureClass,
    PlanTableChunk,
)
from floecat.connectors.spi.errors import (
    BrokenTableError,
    ConnectorError,
    PermanentUpstreamError,
    TransientUpstreamError,
    UnsupportedByConnectorError,
    UpstreamGoneError,
)
from floecat.errors import FailedPreconditionError, LimitExceededError, NotFoundError
from floecat.worker.chunks import LARGEST_PART_BYTES, bounded
from floecat.worker.failures import failure_of
from floecat.worker.spool import Spool
from floecat.worker.submissions import spooled


@given(st.lists(st.integers(1, 400), max_size=40), st.integers(1, 1000))
def test_chunks_hold_every_part_in_order_and_stay_small(sizes: list[int], limit: int) -> None:
    parts = [PlanTableChunk(capture_snapshot_ids=[size] * size) for size in sizes]
    largest = max((part.ByteSize() for part in parts), default=0)
    chunks = list(bounded(parts, limit))
    assert all(chunk.ByteSize() <= max(limit, largest) + 16 for chunk in chunks)
    sent = [number for chunk in chunks for number in chunk.capture_snapshot_ids]
    assert sent == [size for size in sizes for _ in range(size)]


def test_what_cant_be_sent_is_said_so() -> None:
    giant = PlanTableChunk()
    giant.table.schema_json = "x" * (LARGEST_PART_BYTES + 1)
    with pytest.raises(LimitExceededError, match="one part of the result"):
        list(bounded([giant]))


@pytest.mark.parametrize("length", [10, 3_000_000])
def test_a_spool_is_read_any_number_of_times(length: int) -> None:
    messages = [PlanTableChunk(table=TableSpec(schema_json="x" * length)) for _ in range(3)]
    spool = spooled(PlanTableChunk, messages)
    first = iter(spool)
    assert next(first) == messages[0]
    assert list(spool) == messages, "beside one who hasn't finished"
    assert list(first) == messages[1:]
    spool.close()


def test_a_closed_spool_is_empty() -> None:
    spool = Spool(PlanTableChunk)
    spool.write(PlanTableChunk(upstream_complete=True))
    spool.close()
    assert list(spool) == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TransientUpstreamError("busy"), FCL_RETRYABLE),
        (PermanentUpstreamError("refused"), FCL_TERMINAL),
        (BrokenTableError("torn"), FCL_TERMINAL),
        (UpstreamGoneError("gone"), FCL_OBSOLETE),
        (UnsupportedByConnectorError("no views"), FCL_TERMINAL),
        (ConnectorError("odd"), FCL_TERMINAL),
        (NotFoundError("no such connector"), FCL_OBSOLETE),
        (FailedPreconditionError("taken"), FCL_TERMINAL),
    ],
)
def test_failures_say_whether_to_try_again(
    error: Exception, expected: "FailureClass.ValueType"
) -> None:
    failure = failure_of(error, "c0ffee")
    assert failure.failure_class == expected
    assert failure.message == str(error)


def test_the_upstreams_own_wait_is_passed_on() -> None:
    failure = failure_of(TransientUpstreamError("busy", retry_after=timedelta(seconds=7)), "c")
    assert failure.retry_after.ToTimedelta() == timedelta(seconds=7)


def test_what_nobody_expected_isnt_shown() -> None:
    failure = failure_of(ValueError("token=s3cret"), "c0ffee")
    assert failure.failure_class == FCL_RETRYABLE
    assert "s3cret" not in failure.message
    assert "c0ffee" in failure.message
