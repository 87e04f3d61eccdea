"""Values as parquet has them inside, in statistics and in page indexes."""

import json
import math
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from floecat.capture.columns import WantedColumn
from floecat.capture.parquet.schemas import StoredLeaf
from floecat.types.kinds import Kind

_UNITS: Final = {"milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
_FORMS: Final = {"INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d", "BOOLEAN": "<?"}
_STRUCTS: Final = {stored: struct.Struct(form) for stored, form in _FORMS.items()}
_DAY_MICROS: Final = 86_400_000_000
_FLOATS: Final = frozenset({"FLOAT", "DOUBLE"})
_BYTES: Final = frozenset({"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"})
_FLOAT_KINDS: Final = frozenset({Kind.FLOAT, Kind.DOUBLE})
_TEXT_KINDS: Final = frozenset({Kind.STRING, Kind.BINARY, Kind.UUID})


@dataclass(frozen=True, slots=True)
class Physical:
    """How a leaf's values are stored, and what they mean to the column."""

    kind: Kind
    """Of the column."""
    stored: str
    """Parquet's physical type."""
    annotation: str
    """Parquet's logical type."""
    unit: str
    factor: int
    """What stored numbers are multiplied with: digits of decimals, or days that are times now."""
    unsigned_bits: int
    compares: bool
    """Whether the file's order of its values is the column's, so that its bounds bound."""

    @classmethod
    def of(cls, column: WantedColumn, stored: StoredLeaf) -> "Physical":
        """As the file's own schema says."""
        logical = column.logical_type
        return _physical(logical.kind, logical.scale or 0, stored.physical_type, stored.annotation)

    def read(self, content: bytes | None) -> Any:
        """A number, a float or bytes that compare; None for what isn't a bound."""
        if content is None or not self.compares:
            return None
        form = _STRUCTS.get(self.stored)
        if form is None:
            if self.kind is not Kind.DECIMAL:
                return content
            return int.from_bytes(content, "big", signed=True) * self.factor
        if len(content) != form.size:
            return None
        [value] = form.unpack(content)
        if isinstance(value, float):
            return None if math.isnan(value) else value
        return self._whole(int(value))

    def _whole(self, number: int) -> int:
        if self.unsigned_bits and number < 0:
            number += 1 << self.unsigned_bits
        return number * self.factor


@lru_cache(maxsize=1024)
def _physical(kind: Kind, scale: int, stored: str, annotation: str) -> Physical:
    """Remembered: files of a table have the same columns, over and over."""
    said = json.loads(annotation)
    kind_said = str(said.get("Type", "None"))
    factor = 1
    if kind is Kind.DECIMAL:
        up = scale - int(said.get("scale", 0))
        factor = 10**up if up >= 0 else 0
    elif kind_said == "Date" and kind in {Kind.TIMESTAMP, Kind.TIMESTAMPTZ}:
        factor = _DAY_MICROS
    return Physical(
        kind,
        stored,
        kind_said,
        _UNITS.get(said.get("timeUnit", ""), "us"),
        factor,
        int(said.get("bitWidth", 0)) if said.get("isSigned") is False else 0,
        _compares(kind, stored, kind_said, factor),
    )


def _compares(kind: Kind, stored: str, annotation: str, factor: int) -> bool:
    if stored == "INT96" or annotation in {"Float16", "Interval"}:
        return False
    if kind in _FLOAT_KINDS:
        return stored in _FLOATS
    if kind is Kind.DECIMAL:
        return annotation == "Decimal" and factor > 0
    if kind in _TEXT_KINDS:
        return stored in _BYTES and annotation != "Decimal"
    return stored in {"INT32", "INT64", "BOOLEAN"} and annotation != "Decimal"
