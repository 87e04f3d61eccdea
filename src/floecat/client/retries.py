"""When a failed call is made again: only if that can't do anything twice, and help is likely."""

import random
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from floecat.client.failures import RemoteFailure
from floecat.errors import ErrorCode

_READS: Final = ("Get", "List", "Resolve", "Lookup", "Read", "Fetch")

_PASSING: Final = frozenset({ErrorCode.UNAVAILABLE, ErrorCode.RESOURCE_EXHAUSTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often, and how long to wait: doubling, with full jitter, or as the service says."""

    attempts: int = 4
    base: timedelta = timedelta(milliseconds=100)
    longest: timedelta = timedelta(seconds=5)

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
    """Whether the same call may succeed later."""
    return failure.error.code in _PASSING
