"""Quantiles as people read them: they are kept as numbers, whatever the column's values are."""

from datetime import UTC, datetime, timedelta
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats
from floecat.types.errors import InvalidTypeError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.messages import from_message

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_MICROS: Final = 86_400_000_000
_WHOLE: Final = float(1 << 53)
"""From here on doubles don't tell whole numbers apart."""


def quantile_text(stats: ScalarStats, value: float) -> str:
    """A quantile of a column, written as its values are where that is possible."""
    try:
        return _of_type(from_message(stats.logical_type), value)
    except (InvalidTypeError, ValueError, OverflowError):
        # Anybody may have put these statistics: a day that no calendar has is shown as its number.
        return f"{value:g}"


def _of_type(logical: LogicalType, value: float) -> str:
    scale = logical.scale or 0
    match logical.kind:
        case Kind.DATE:
            return (_EPOCH + timedelta(days=round(value))).date().isoformat()
        case Kind.TIME if 0 <= value < _DAY_MICROS:
            return _moment(value).time().isoformat()
        case Kind.TIMESTAMP:
            return _moment(value).replace(tzinfo=None).isoformat()
        case Kind.TIMESTAMPTZ:
            return _moment(value).replace(tzinfo=None).isoformat() + "Z"
        case Kind.INT if abs(value) < _WHOLE:
            return f"{value:,.0f}"
        case Kind.DECIMAL if scale and abs(value) * 10.0**scale < _WHOLE:
            return f"{value:.{scale}f}"
        case _:
            return f"{value:g}"


def _moment(micros: float) -> datetime:
    return _EPOCH + timedelta(microseconds=round(micros))
