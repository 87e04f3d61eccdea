"""Times as people read them: how long ago in lists, in full where one thing is shown."""

from datetime import UTC, datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from floecat.errors import InvalidArgumentError

_UNITS: Final = (
    (365 * 86_400, "year", "years"),
    (30 * 86_400, "month", "months"),
    (86_400, "day", "days"),
    (3_600, "hour", "hours"),
    (60, "min", "min"),
)
_MOMENT_SECONDS: Final = 10


def ago(time: Timestamp, now: datetime) -> str:
    """How long ago, roughly: "just now", "3 min ago", "in 2 days"; empty for no time."""
    if not time.ByteSize():
        return ""
    seconds = now.timestamp() - time.seconds
    distance = _distance(abs(seconds))
    if not distance:
        return "just now"
    return f"{distance} ago" if seconds > 0 else f"in {distance}"


def full(time: Timestamp, now: datetime) -> str:
    """The time to the second in UTC, and how long ago that is; empty for no time."""
    if not time.ByteSize():
        return ""
    text = time.ToDatetime(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"{text} ({ago(time, now)})"


def parse_time(text: str) -> Timestamp:
    """An ISO 8601 time; without a zone it is UTC, without a time of day its first moment."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidArgumentError(
            f"{text!r} isn't a time: write it like 2026-01-31T12:00:00Z"
        ) from error
    stamp = Timestamp()
    stamp.FromDatetime(moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC))
    return stamp


def _distance(seconds: float) -> str:
    for size, one, many in _UNITS:
        count = int(seconds // size)
        if count:
            return f"{count} {one if count == 1 else many}"
    return f"{int(seconds)} s" if seconds >= _MOMENT_SECONDS else ""
