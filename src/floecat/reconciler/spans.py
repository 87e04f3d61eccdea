"""Lengths of time in requests: any number of seconds can be sent, few make sense."""

from datetime import timedelta
from typing import Final

from google.protobuf.duration_pb2 import Duration

from floecat.errors import InvalidArgumentError

LONGEST: Final = timedelta(days=3650)


def span_of(duration: Duration, field: str) -> timedelta:
    """A length of time that isn't negative, and that a calendar can be asked about."""
    seconds = duration.seconds + duration.nanos / 1e9
    if not 0 <= seconds <= LONGEST.total_seconds():
        raise InvalidArgumentError(f"{field} isn't between nothing and ten years", field=field)
    return timedelta(seconds=seconds)
