"""Errors into statuses: every code mapped, details complete, both ways."""

import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import code_pb2, error_details_pb2
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from ai.floedb.floecat.common import common_pb2
from floecat.errors import (
    AbortedError,
    ContentionError,
    ErrorCode,
    FloecatError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnavailableError,
)
from floecat.service.status import STATUS_CODES, status_of


@pytest.mark.parametrize("code", ErrorCode)
def test_every_code_is_mapped_to_the_status_of_its_name(code: ErrorCode) -> None:
    assert code_pb2.Code.Name(STATUS_CODES[code]) == code
    assert common_pb2.ErrorCode.Value(f"EC_{code}") > 0


def test_no_contract_code_is_without_an_error() -> None:
    ours = {f"EC_{code}" for code in ErrorCode} | {"EC_UNSPECIFIED"}
    assert set(common_pb2.ErrorCode.keys()) == ours


def test_a_field_problem_is_a_field_violation() -> None:
    error = InvalidArgumentError("too long", field="spec.display_name", metadata={"max": "255"})
    status = status_of(error, "c1")
    assert status.code is StatusCode.INVALID_ARGUMENT
    trailing = dict(status.trailing_metadata)["grpc-status-details-bin"]
    details = {any_.TypeName(): any_ for any_ in _unpacked(trailing)}
    described, info, bad = (
        common_pb2.Error(),
        error_details_pb2.ErrorInfo(),
        error_details_pb2.BadRequest(),
    )
    assert details["ai.floedb.floecat.common.Error"].Unpack(described)
    assert details["google.rpc.ErrorInfo"].Unpack(info)
    assert details["google.rpc.BadRequest"].Unpack(bad)
    assert (described.correlation_id, described.field_violations[0].field) == (
        "c1",
        "spec.display_name",
    )
    assert (info.domain, info.reason, dict(info.metadata)) == (
        "floecat",
        "INVALID_ARGUMENT",
        {"max": "255"},
    )
    assert bad.field_violations[0].field == "spec.display_name"


def test_what_may_pass_says_when_to_try_again() -> None:
    status = status_of(UnavailableError("busy"), "c1")
    trailing = dict(status.trailing_metadata)["grpc-status-details-bin"]
    assert "google.rpc.RetryInfo" in {any_.TypeName() for any_ in _unpacked(trailing)}


def _unpacked(trailing: object) -> list[AnyMessage]:
    assert isinstance(trailing, bytes)
    return list(Status.FromString(trailing).details)


@pytest.mark.parametrize(
    ("error", "carries"),
    [
        (ContentionError("busy"), True),
        (UnavailableError("away"), True),
        (ResourceExhaustedError("full"), True),
        (AbortedError("another won"), False),
    ],
)
def test_what_may_pass_says_when_to_come_again(error: FloecatError, carries: bool) -> None:
    trailing = dict(status_of(error, "c1").trailing_metadata)["grpc-status-details-bin"]
    names = {any_.TypeName() for any_ in _unpacked(trailing)}
    assert ("google.rpc.RetryInfo" in names) == carries
