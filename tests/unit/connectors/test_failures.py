"""Exceptions of libraries, told in our words, and whether waiting helps."""

import socket
import ssl
from datetime import timedelta

import httpx
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from floecat.connectors.failures import connector_error, of_status
from floecat.connectors.spi.errors import (
    BrokenTableError,
    ConnectorError,
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamProblem,
)
from floecat.security.guard import AddressNotAllowedError, NameNotResolvedError

PROBLEM = UpstreamProblem


def wrapped(cause: BaseException) -> Exception:
    """As libraries do: one exception around another around the cause."""
    try:
        try:
            raise OSError("pool") from cause
        except OSError as error:
            raise RuntimeError("it failed") from error
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    ("cause", "kind", "problem"),
    [
        (socket.gaierror(-2, "Name"), TransientUpstreamError, PROBLEM.NAME_NOT_RESOLVED),
        (NameNotResolvedError("no name"), TransientUpstreamError, PROBLEM.NAME_NOT_RESOLVED),
        (ConnectionRefusedError(111, "no"), TransientUpstreamError, PROBLEM.CONNECTION_REFUSED),
        (TimeoutError(), TransientUpstreamError, PROBLEM.TIMEOUT),
        (httpx.ReadTimeout("slow"), TransientUpstreamError, PROBLEM.TIMEOUT),
        (ConnectionResetError(), TransientUpstreamError, PROBLEM.UPSTREAM_ERROR),
        (ssl.SSLCertVerificationError("self-signed"), PermanentUpstreamError, PROBLEM.TLS),
        (AddressNotAllowedError("no"), PermanentUpstreamError, PROBLEM.ADDRESS_NOT_ALLOWED),
        (BrokenTableError("this one"), BrokenTableError, PROBLEM.UPSTREAM_ERROR),
        (ValueError("odd"), PermanentUpstreamError, PROBLEM.UPSTREAM_ERROR),
    ],
)
def test_causes_are_found_however_deep(
    cause: BaseException, kind: type[ConnectorError], problem: UpstreamProblem
) -> None:
    for error in (cause, wrapped(cause)):
        found = connector_error(error, "the catalog")
        assert (type(found), found.problem) == (kind, problem)
        assert found.message


@pytest.mark.parametrize(
    ("status", "kind", "problem"),
    [
        (401, PermanentUpstreamError, PROBLEM.UNAUTHENTICATED),
        (403, PermanentUpstreamError, PROBLEM.PERMISSION_DENIED),
        (404, PermanentUpstreamError, PROBLEM.NO_SUCH_WAREHOUSE),
        (400, PermanentUpstreamError, PROBLEM.UPSTREAM_ERROR),
        (429, TransientUpstreamError, PROBLEM.UPSTREAM_ERROR),
        (503, TransientUpstreamError, PROBLEM.UPSTREAM_ERROR),
    ],
)
def test_statuses(status: int, kind: type[ConnectorError], problem: UpstreamProblem) -> None:
    answer = httpx.Response(status, request=httpx.Request("GET", "http://x"))
    error = httpx.HTTPStatusError("bad", request=answer.request, response=answer)
    for found in (of_status(status, "the catalog"), connector_error(error, "the catalog")):
        assert (type(found), found.problem) == (kind, problem)


def test_an_upstream_may_say_when_to_come_back() -> None:
    request = httpx.Request("GET", "http://x")
    for header, expected in (("7", timedelta(seconds=7)), ("99999999", timedelta(hours=1))):
        answer = httpx.Response(429, headers={"Retry-After": header}, request=request)
        error = httpx.HTTPStatusError("bad", request=request, response=answer)
        found = connector_error(error, "the catalog")
        assert isinstance(found, TransientUpstreamError)
        assert found.retry_after == expected


def test_errors_of_aws() -> None:
    denied = ClientError(
        {"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}},
        "GetTables",
    )
    assert connector_error(denied, "Glue").problem is PROBLEM.PERMISSION_DENIED
    refused = EndpointConnectionError(endpoint_url="http://x", error=ConnectionRefusedError())
    assert connector_error(refused, "Glue").message


@pytest.mark.parametrize("text", ["token=canary-1 rest", "Authorization: Bearer canary-1"])
def test_what_looks_like_a_secret_isnt_repeated(text: str) -> None:
    assert "canary" not in connector_error(ValueError(text), "the catalog").message
