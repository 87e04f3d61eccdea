"""The time, passed in as a `Clock`, so that code about time is tested without waiting."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The machine's clock, in UTC."""
    return datetime.now(UTC)
