"""What is said of a capture on the command line, and the policy that this is."""

from typing import Any

import pytest

from ai.floedb.floecat.execution import capture_pb2
from ai.floedb.floecat.execution.capture_pb2 import CapturePolicy, SamplingPolicy
from floecat.cli.capture_options import CaptureOptions
from floecat.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("said", "policy"),
    [
        ({"first_n": 20}, CapturePolicy(default_scope=capture_pb2.DCS_FIRST_N, first_n=20)),
        ({"sample": 0.1}, CapturePolicy(sampling=SamplingPolicy(row_group_fraction=0.1))),
        (
            {"sample": 1.0, "sample_seed": 7},
            CapturePolicy(sampling=SamplingPolicy(row_group_fraction=1, seed=7)),
        ),
        ({"allow_failed_files": True}, CapturePolicy(allow_failed_files=True)),
        (
            {"capture": "table-stats,index,index"},
            CapturePolicy(outputs=[capture_pb2.CAO_TABLE_STATS, capture_pb2.CAO_PAGE_INDEX]),
        ),
    ],
)
def test_what_is_said_is_the_policy(said: dict[str, Any], policy: CapturePolicy) -> None:
    assert CaptureOptions(**said).policy() == policy


def test_nothing_said_is_no_policy() -> None:
    assert CaptureOptions(columns=[]).policy() is None


def test_columns_that_are_named_are_the_only_ones() -> None:
    policy = CaptureOptions(columns=["id", "#2"]).policy()
    assert policy is not None
    assert policy.default_scope == capture_pb2.DCS_EXPLICIT
    assert [column.selector for column in policy.columns] == ["id", "#2"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"sample": 0.0}, "above 0 and at most 1"),
        ({"sample": 1.5}, "above 0 and at most 1"),
        ({"sample": float("nan")}, "above 0 and at most 1"),
        ({"sample_seed": 1}, "give --sample too"),
        ({"sample": 0.5, "sample_seed": 2**64}, "from 0 to"),
        ({"first_n": 1, "columns": ["id"]}, "give one of --column and --first-n"),
        ({"capture": "stats,nonsense"}, "--capture nonsense: there is"),
    ],
)
def test_what_cant_be_meant_is_refused(said: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgumentError, match=told):
        CaptureOptions(**said).policy()


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ({"capture": "stats"}, "--capture"),
        ({"columns": ["id"]}, "--column"),
        ({"first_n": 1}, "--first-n"),
        ({"sample": 0.5, "sample_seed": 0}, "--sample and --sample-seed"),
        ({"allow_failed_files": True}, "--allow-failed-files"),
    ],
)
@pytest.mark.parametrize("mode", ["metadata-only", "metadata"])
def test_a_run_without_a_capture_takes_none_of_it(
    said: dict[str, Any], options: str, mode: str
) -> None:
    wanted = CaptureOptions(**said)
    told = f"--mode {mode} captures nothing: leave it out, or leave out {options}$"
    with pytest.raises(InvalidArgumentError, match=told):
        wanted.require_fitting(mode)
    wanted.require_fitting("capture-only")
    wanted.require_fitting(None)
    CaptureOptions().require_fitting(mode)
