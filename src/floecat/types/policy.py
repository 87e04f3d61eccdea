"""What to do with an instant where a TIMESTAMP, which has no zone, is wanted."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from floecat.types.errors import InvalidValueError
from floecat.types.values.units import NANOS_PER_DAY, NANOS_PER_SECOND

POLICY_SETTING: Final = "floecat.timestamp_no_tz.policy"
SESSION_ZONE_SETTING: Final = "floecat.session.timezone"

_CONVERT: Final = "CONVERT_TO_SESSION_ZONE"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR_NANOS: Final = 3_600 * NANOS_PER_SECOND
_MAX_SETBACK_HOURS: Final = 32
"""No clock is put back by more: offsets are within sixteen hours of UTC."""
_CYCLE_NANOS: Final = 146_097 * NANOS_PER_DAY
"""The calendar, weekdays included, repeats after 400 years."""


@dataclass(frozen=True, slots=True)
class TimestampPolicy:
    """Refuses instants for TIMESTAMP, or reads them off a clock in the session's zone."""

    session_zone: ZoneInfo | None = None

    def wall_clock(self, nanos: int) -> int:
        """The session zone's wall clock at an instant, both in nanoseconds since the epoch."""
        return nanos + _offset_nanos(self._zone(), nanos)

    def earliest_from(self, nanos: int) -> int:
        """The least that the wall clock shows at an instant or later.

        That is less than it shows then if it is about to be put back.
        """
        zone = self._zone()
        changes = _changes(zone, nanos, nanos + _MAX_SETBACK_HOURS * _HOUR_NANOS)
        return min([self.wall_clock(nanos), *(at + after for at, _, after in changes)])

    def latest_until(self, nanos: int) -> int:
        """The most that the wall clock shows at an instant or earlier.

        That is more than it shows then if it has just been put back.
        """
        zone = self._zone()
        changes = _changes(zone, nanos - _MAX_SETBACK_HOURS * _HOUR_NANOS, nanos)
        return max([self.wall_clock(nanos), *(at + before for at, before, _ in changes)])

    def _zone(self) -> ZoneInfo:
        if self.session_zone is None:
            raise InvalidValueError(
                "the value has a zone and TIMESTAMP has none: make the column a TIMESTAMPTZ, or "
                f"set {POLICY_SETTING}={_CONVERT} and {SESSION_ZONE_SETTING}"
            )
        return self.session_zone


def _changes(zone: ZoneInfo, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """When the zone's offset changes in (start, end], and the offsets before and after.

    Looks every hour, and closer where two looks differ: no zone changes twice within one.
    """
    low, before = start, _offset_nanos(zone, start)
    while low < end:
        high = min(low + _HOUR_NANOS, end)
        after = _offset_nanos(zone, high)
        if after != before:
            yield _change(zone, low, high), before, after
        low, before = high, after


def _change(zone: ZoneInfo, low: int, high: int) -> int:
    """The second in (low, high] from which on the offset is that of `high`."""
    after = _offset_nanos(zone, high)
    first, last = low // NANOS_PER_SECOND, high // NANOS_PER_SECOND
    while last - first > 1:
        middle = (first + last) // 2
        if _offset_nanos(zone, middle * NANOS_PER_SECOND) == after:
            last = middle
        else:
            first = middle
    return last * NANOS_PER_SECOND


def _offset_nanos(zone: ZoneInfo, nanos: int) -> int:
    """The zone's offset. Years that Python hasn't use the rules of the nearest cycle it has."""
    cycles, within = divmod(nanos, _CYCLE_NANOS)
    nearest = min(max(cycles, -4), 19)  # the cycles from 1970 on that lie in the years 1 to 9999
    at = _EPOCH + timedelta(seconds=(nearest * _CYCLE_NANOS + within) // NANOS_PER_SECOND)
    offset = at.astimezone(zone).utcoffset() or timedelta()
    return int(offset.total_seconds()) * NANOS_PER_SECOND
