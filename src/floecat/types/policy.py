"""What to do with an instant where a TIMESTAMP, which has no zone, is wanted."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from floecat.errors import InvalidArgumentError
from floecat.types.errors import InvalidValueError
from floecat.types.values.units import NANOS_PER_DAY, NANOS_PER_SECOND

POLICY_SETTING: Final = "floecat.timestamp_no_tz.policy"
SESSION_ZONE_SETTING: Final = "floecat.session.timezone"

_REJECT: Final = "REJECT"
_CONVERT: Final = "CONVERT_TO_SESSION_ZONE"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE_NANOS: Final = 146_097 * NANOS_PER_DAY
"""The calendar, weekdays included, repeats after 400 years."""


@dataclass(frozen=True, slots=True)
class TimestampPolicy:
    """Refuses instants for TIMESTAMP, or reads them off a clock in the session's zone."""

    session_zone: ZoneInfo | None = None

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> "TimestampPolicy":
        """The policy that the two settings ask for; REJECT when there are none."""
        policy = settings.get(POLICY_SETTING, _REJECT).strip().upper()
        if policy == _REJECT:
            return cls()
        if policy != _CONVERT:
            raise InvalidArgumentError(
                f"{POLICY_SETTING} is {_REJECT} or {_CONVERT}, and {policy!r} is neither"
            )
        return cls(_zone(settings.get(SESSION_ZONE_SETTING, "").strip()))

    def wall_clock(self, nanos: int) -> int:
        """The session zone's wall clock at an instant, both in nanoseconds since the epoch."""
        if self.session_zone is None:
            raise InvalidValueError(
                "the value has a zone and TIMESTAMP has none: make the column a TIMESTAMPTZ, or "
                f"set {POLICY_SETTING}={_CONVERT} and {SESSION_ZONE_SETTING}"
            )
        return nanos + _offset_seconds(self.session_zone, nanos) * NANOS_PER_SECOND


def _zone(name: str) -> ZoneInfo:
    if not name:
        raise InvalidArgumentError(
            f"{POLICY_SETTING}={_CONVERT} needs {SESSION_ZONE_SETTING}, e.g. Europe/Paris"
        )
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidArgumentError(
            f"{SESSION_ZONE_SETTING}={name!r} isn't an IANA time zone"
        ) from None


def _offset_seconds(zone: ZoneInfo, nanos: int) -> int:
    """The zone's offset. Years that Python hasn't use the rules of the nearest cycle it has."""
    cycles, within = divmod(nanos, _CYCLE_NANOS)
    nearest = min(max(cycles, -4), 19)  # the cycles from 1970 on that lie in the years 1 to 9999
    at = _EPOCH + timedelta(seconds=(nearest * _CYCLE_NANOS + within) // NANOS_PER_SECOND)
    return int((at.astimezone(zone).utcoffset() or timedelta()).total_seconds())
