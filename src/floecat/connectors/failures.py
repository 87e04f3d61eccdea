"""What went wrong on the way to an upstream, from the exception a library raised about it.

Libraries wrap the same few causes in exceptions of their own, so the whole chain is looked
through. Connectors call this from their own `errors.py`, after what only they know.
"""

import re
import socket
import ssl
from collections.abc import Iterator
from datetime import timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from floecat.clock import utc_now
from floecat.connectors.spi.errors import (
    ConnectorError,
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamProblem,
)
from floecat.security.guard import AddressNotAllowedError, NameNotResolvedError

_TRANSIENT_STATUS: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_SECRETIVE: Final = re.compile(
    r"(?i)((?:token|secret|password|authorization|key)\S*?[=:]|bearer)\s*(?:bearer\s+)?\S+"
)
_MAX_RETRY_AFTER: Final = timedelta(hours=1)


def connector_error(error: BaseException, place: str) -> ConnectorError:
    """The failure in our words. `place` is where it happened, as a person would say it."""
    chain = list(_chain(error))
    for cause in chain:
        if isinstance(cause, ConnectorError):
            return cause
    for cause in chain:
        found = _of_guard(cause) or _of_network(cause, place)
        if found is not None:
            return found
    for cause in chain:
        status = _status_of(cause)
        if status is not None:
            return of_status(status, place, retry_after=_retry_after(cause))
    return PermanentUpstreamError(f"{place} failed: {_first_line(error)}")


def of_status(
    status: int, place: str, *, detail: str = "", retry_after: timedelta | None = None
) -> ConnectorError:
    """The failure that an HTTP status stands for."""
    if status == HTTPStatus.UNAUTHORIZED:
        return PermanentUpstreamError(
            f"{place} doesn't accept the credentials (401): check that they are right and haven't "
            "expired, and update the connector",
            UpstreamProblem.UNAUTHENTICATED,
        )
    if status == HTTPStatus.FORBIDDEN:
        return PermanentUpstreamError(
            f"{place} knows the credentials but doesn't allow this (403): grant them the right to "
            "list and read",
            UpstreamProblem.PERMISSION_DENIED,
        )
    shown = f"{place} answered {status}{': ' + detail if detail else ''}"
    if status in _TRANSIENT_STATUS:
        return TransientUpstreamError(f"{shown}; it may work later", retry_after=retry_after)
    if status == HTTPStatus.NOT_FOUND:
        return PermanentUpstreamError(
            f"{shown}: there is no such catalog or warehouse there; check the URI",
            UpstreamProblem.NO_SUCH_WAREHOUSE,
        )
    return PermanentUpstreamError(shown)


def parse_retry_after(text: str) -> timedelta | None:
    """The header's value: seconds, or a date; None for anything else."""
    if text.isdecimal():
        return min(timedelta(seconds=int(text[:9])), _MAX_RETRY_AFTER)
    try:
        wait = parsedate_to_datetime(text) - utc_now()
    except (TypeError, ValueError):  # no date, or one without a time zone
        return None
    return min(max(wait, timedelta(0)), _MAX_RETRY_AFTER)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and everything it came from, libraries' own ways to say so included."""
    seen: set[int] = set()
    todo: list[object] = [error]
    while todo:
        cause = todo.pop(0)
        if not isinstance(cause, BaseException) or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        todo += [cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args]


def _of_guard(cause: BaseException) -> ConnectorError | None:
    if isinstance(cause, AddressNotAllowedError):
        return PermanentUpstreamError(cause.message, UpstreamProblem.ADDRESS_NOT_ALLOWED)
    if isinstance(cause, NameNotResolvedError):
        return TransientUpstreamError(cause.message, UpstreamProblem.NAME_NOT_RESOLVED)
    return None


def _of_network(cause: BaseException, place: str) -> ConnectorError | None:
    match cause:
        case socket.gaierror():
            return TransientUpstreamError(
                f"the host name of {place} can't be resolved: check its spelling and your DNS",
                UpstreamProblem.NAME_NOT_RESOLVED,
            )
        case ssl.SSLError():
            return PermanentUpstreamError(
                f"{place} can't be trusted over TLS ({_first_line(cause)}): check that the URI "
                "says https only where TLS is spoken, and that its certificate is valid here",
                UpstreamProblem.TLS,
            )
        case ConnectionRefusedError():
            return TransientUpstreamError(
                f"nothing listens at {place} (connection refused): check host and port, and that "
                "it is running",
                UpstreamProblem.CONNECTION_REFUSED,
            )
        case TimeoutError():
            return _timeout(place)
        case ConnectionError():
            return TransientUpstreamError(f"{place} broke the connection; it may work later")
        case _ if "Timeout" in type(cause).__name__:
            return _timeout(place)
        case _:
            return None


def _timeout(place: str) -> ConnectorError:
    return TransientUpstreamError(
        f"{place} didn't answer in time: check that it can be reached from here",
        UpstreamProblem.TIMEOUT,
    )


def _status_of(cause: BaseException) -> int | None:
    """The HTTP status that an exception of requests, httpx or botocore carries."""
    response = getattr(cause, "response", None)
    status = getattr(response, "status_code", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status if isinstance(status, int) else None


def _retry_after(cause: BaseException) -> timedelta | None:
    headers = getattr(getattr(cause, "response", None), "headers", None) or {}
    return parse_retry_after(str(headers.get("Retry-After", "")))


def _first_line(error: BaseException) -> str:
    """What an exception says, short, and without anything that looks like a secret."""
    line = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
    return _SECRETIVE.sub(r"\1 …", line)
