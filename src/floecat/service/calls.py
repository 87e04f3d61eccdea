"""One call, as handlers see it: who, under which correlation id, and whether anyone still waits."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import grpc

from floecat.catalog.callers import Caller
from floecat.errors import CancelledError, DeadlineExceededError, InvalidArgumentError
from floecat.service.principals import Principal

_LONGEST_CORRELATION_ID: Final = 128
_LONGEST_ENGINE_WORD: Final = 64


@dataclass(frozen=True, slots=True)
class Engine:
    """Which engine is asking, in its own words; empty where it doesn't say."""

    kind: str = ""
    version: str = ""


@dataclass(slots=True)
class Call:
    """A call that was authenticated and authorised."""

    method: str
    correlation_id: str
    headers: Mapping[str, str]
    principal: Principal
    context: grpc.ServicerContext = field(repr=False)
    engine: Engine = Engine()
    replayed: bool = False
    """Whether the answer is one that was given before."""

    @property
    def caller(self) -> Caller:
        """The caller as the catalog knows it."""
        principal = self.principal
        return Caller(principal.account_id, principal.subject, principal.administrator, self)

    def require_waiting(self) -> None:
        """Stop working for a client that has gone, or whose deadline has passed."""
        require_waiting(self.context)

    def answer_replayed(self) -> None:
        """Nothing was changed, so there is nothing to audit."""
        self.replayed = True


def require_waiting(context: grpc.ServicerContext) -> None:
    """Raise unless somebody still waits for the answer."""
    if context.time_remaining() <= 0:
        raise DeadlineExceededError("the call's deadline has passed")
    if not context.is_active():
        raise CancelledError("the client has gone")


def headers_of(context: grpc.ServicerContext) -> dict[str, str]:
    """The text headers of a call. Binary ones are none of ours."""
    return {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}


def correlation_id_of(headers: Mapping[str, str]) -> str:
    """The caller's correlation id, if it is one we can log and echo; otherwise a new one."""
    given = headers.get("x-correlation-id", "")
    fits = given and _is_loggable(given, _LONGEST_CORRELATION_ID)
    return given if fits else os.urandom(16).hex()


def engine_of(headers: Mapping[str, str]) -> Engine:
    """The engine that the headers name. What can't be logged is refused, not cut short."""
    return Engine(_engine_word(headers, "x-engine-kind"), _engine_word(headers, "x-engine-version"))


def _engine_word(headers: Mapping[str, str], header: str) -> str:
    given = headers.get(header, "")
    if not _is_loggable(given, _LONGEST_ENGINE_WORD):
        raise InvalidArgumentError(
            f"{header} must be at most {_LONGEST_ENGINE_WORD} printable ASCII characters",
            field=header,
        )
    return given


def _is_loggable(text: str, longest: int) -> bool:
    return len(text) <= longest and text.isascii() and text.isprintable()
