"""The typed bounds of a sidecar's row, from what a file says in its own way."""

from typing import Any, Final

from floecat.artifacts.sidecars import RowBounds
from floecat.capture.learning.cutting import LONGEST, cut_high, cut_low
from floecat.capture.parquet.physical import Physical
from floecat.types.kinds import Kind

UNBOUNDED: Final = RowBounds()
_NANOS: Final = {"ms": 1_000_000, "us": 1_000, "ns": 1}
_MICRO: Final = 1_000
_LONG: Final = 1 << 63
_TIMES: Final = frozenset({"Timestamp", "Time"})


def typed_bounds(physical: Physical, ends: tuple[Any, Any], tight: tuple[bool, bool]) -> RowBounds:
    """A row's bounds, if both are known; a row with one of them bounds nothing."""
    low, high = ends
    low_tight, high_tight = tight
    if low is None or high is None or low > high:
        return UNBOUNDED
    if isinstance(low, bytes):
        return _texts(physical, low, high, low_tight, high_tight)
    if isinstance(low, float):
        # Both zeros are one value: which of them was written says nothing.
        return RowBounds(None, None, low or -0.0, high or 0.0, None, None, low_tight, high_tight)
    if physical.annotation in _TIMES:
        nanos = _NANOS[physical.unit]
        low_tight = low_tight and low * nanos % _MICRO == 0
        high_tight = high_tight and high * nanos % _MICRO == 0
        low, high = low * nanos // _MICRO, -(-high * nanos // _MICRO)
    if not -_LONG <= low <= high < _LONG:
        return UNBOUNDED
    return RowBounds(low, high, None, None, None, None, low_tight, high_tight)


def _texts(
    physical: Physical, low: bytes, high: bytes, low_tight: bool, high_tight: bool
) -> RowBounds:
    end = cut_high(high, is_text=physical.kind is Kind.STRING)
    if end is None:
        return UNBOUNDED
    low_tight = low_tight and len(low) <= LONGEST
    high_tight = high_tight and len(high) <= LONGEST
    return RowBounds(None, None, None, None, cut_low(low), end, low_tight, high_tight)
