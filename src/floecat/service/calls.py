"""One call, as handlers see it: who, under which correlation id, and whether anyone still waits."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import grpc

from floecat.catalog.callers import Caller
from floecat.errors import CancelledError, DeadlineExceededError
from floecat.service.principals import Principal


@dataclass(slots=True)
class Call:
    """A call that was authenticated and authorised."""

    method: str
    correlation_id: str
    headers: Mapping[str, str]
    principal: Principal
    context: grpc.ServicerContext = field(repr=False)
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
    fits = 0 < len(given) <= 128 and given.isascii() and given.isprintable()
    return given if fits else os.urandom(16).hex()
