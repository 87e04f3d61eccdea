"""What every call of the client gets: headers, a deadline, retries, errors that can be caught."""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import grpc

from floecat.client.failures import failure_of
from floecat.client.retries import RetryPolicy, is_passing, may_repeat, was_refused
from floecat.errors import FailedPreconditionError


class _CallDetails(grpc.ClientCallDetails):
    """Call details that we made."""

    def __init__(
        self, given: grpc.ClientCallDetails, timeout: float, headers: Mapping[str, str]
    ) -> None:
        self.method = given.method
        self.timeout = timeout
        self.metadata = (*(given.metadata or ()), *headers.items())
        self.credentials = given.credentials
        self.wait_for_ready = given.wait_for_ready
        self.compression = given.compression


def _correlation_id(given: grpc.ClientCallDetails, headers: Mapping[str, str]) -> str:
    """The id that a call is sent with, whoever chose it."""
    return str({**headers, **dict(given.metadata or ())}["x-correlation-id"])


class CallInterceptor(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
):
    """Wraps every call on a channel."""

    def __init__(self, headers: Mapping[str, str], timeout: timedelta, retry: RetryPolicy) -> None:
        self._headers = dict(headers)
        self._timeout = timeout
        self._retry = retry
        self._closed = False

    def close(self) -> None:
        """Make no more calls: gRPC's core must not be asked for any on a closed channel."""
        self._closed = True

    def intercept_unary_unary(
        self, continuation: Callable[..., Any], details: grpc.ClientCallDetails, request: Any
    ) -> Any:
        """One request, one answer: retried within its deadline where that is safe."""
        deadline = time.monotonic() + self._seconds(details)
        headers = self._call_headers(details)
        repeatable = may_repeat(details.method, request)
        for attempt in count(1):
            left = max(deadline - time.monotonic(), 0.001)
            call = continuation(_CallDetails(details, left, headers), request)
            error = call.exception()
            if error is None:
                return call
            failure = failure_of(error, _correlation_id(details, headers))
            wait = self._retry.wait_before(attempt, failure).total_seconds()
            last = attempt >= self._retry.attempts or time.monotonic() + wait > deadline
            harmless = repeatable or was_refused(failure)
            if last or not harmless or not is_passing(failure):
                raise failure.error from error
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def intercept_unary_stream(
        self, continuation: Callable[..., Any], details: grpc.ClientCallDetails, request: Any
    ) -> Any:
        """One request, many answers: never retried, since some may have been seen."""
        headers = self._call_headers(details)
        call = continuation(_CallDetails(details, self._seconds(details), headers), request)
        return _Answers(call, _correlation_id(details, headers))

    def intercept_stream_unary(
        self, continuation: Callable[..., Any], details: grpc.ClientCallDetails, requests: Any
    ) -> Any:
        """Many requests, one answer: never retried, since the requests are used up."""
        headers = self._call_headers(details)
        call = continuation(_CallDetails(details, self._seconds(details), headers), requests)
        error = call.exception()
        if error is not None:
            raise failure_of(error, _correlation_id(details, headers)).error from error
        return call

    def _seconds(self, details: grpc.ClientCallDetails) -> float:
        return self._timeout.total_seconds() if details.timeout is None else details.timeout

    def require_open(self) -> None:
        """Refuse what comes after the end."""
        if self._closed:
            raise FailedPreconditionError("this client was closed: connect again")

    def _call_headers(self, details: grpc.ClientCallDetails) -> dict[str, str]:
        """What is sent besides the call's own headers, which win over the client's."""
        self.require_open()
        given = {key for key, _ in details.metadata or ()}
        headers = {"x-correlation-id": uuid4().hex, **self._headers}
        return {key: value for key, value in headers.items() if key not in given}


class _Answers(Iterator[Any]):
    """The answers of a stream, whose failure is one of our errors."""

    def __init__(self, call: Any, correlation_id: str) -> None:
        self._call = call
        self._correlation_id = correlation_id

    def __next__(self) -> Any:
        try:
            return next(self._call)
        except grpc.RpcError as error:
            raise failure_of(error, self._correlation_id).error from error

    def cancel(self) -> None:
        """Stop listening."""
        self._call.cancel()
