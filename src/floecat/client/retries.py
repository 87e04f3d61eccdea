"""When a failed call is made again: only if that can't do anything twice, and help is likely."""

import random
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from floecat.client.failures import RemoteFailure
from floecat.errors import ErrorCode, InvalidArgumentError

_READS: Final = ("Get", "List", "Resolve", "Lookup", "Read", "Fetch")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often, and how long to wait: doubling, with full jitter, or as the service says."""

    attempts: int = 4
    base: timedelta = timedelta(milliseconds=100)
    longest: timedelta = timedelta(seconds=5)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise InvalidArgumentError(
                f"a call is attempted once or more often, not {self.attempts} times: 1 means no "
                "retries",
                field="attempts",
            )
        if min(self.base, self.longest) < timedelta(0):
            raise InvalidArgumentError("pauses can't be negative", field="base")

    def wait_before(self, attempt: int, failure: RemoteFailure) -> timedelta:
        """How long to wait before attempt number `attempt` (the first retry is number 1)."""
        if failure.retry_after is not None:
            return min(failure.retry_after, self.longest)
        limit = min(self.longest, self.base * 2 ** (attempt - 1))
        return timedelta(seconds=limit.total_seconds() * random.random())  # noqa: S311 - spreads load, hides nothing


def may_repeat(method: str, request: Any) -> bool:
    """Whether making a call twice is the same as making it once: reads, and keyed mutations."""
    name = method.rpartition("/")[2]
    return name.startswith(_READS) or bool(
        getattr(getattr(request, "idempotency", None), "key", "")
    )


def was_refused(failure: RemoteFailure) -> bool:
    """Whether the service was too busy to begin: then nothing has happened, whatever the call."""
    return failure.error.reason == "OVERLOADED"


def is_passing(failure: RemoteFailure) -> bool:
    """Whether the same call may succeed later: the service says so, or can't be reached."""
    return failure.retry_after is not None or failure.error.code is ErrorCode.UNAVAILABLE
