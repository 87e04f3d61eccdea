"""LogicalType: an immutable type with parameters, valid by construction.

Its text (`str`) is the canonical type string; `parse.parse_type` reads it back.
"""

import re
from dataclasses import dataclass, field, fields
from typing import Final

from typing_extensions import override

from floecat.types.errors import InvalidTypeError
from floecat.types.kinds import IntervalRange, Kind

MAX_DECIMAL_PRECISION: Final = 76
MAX_TEMPORAL_PRECISION: Final = 6
MAX_INTERVAL_LEADING_PRECISION: Final = 9
MAX_DEPTH: Final = 40
"""Protobuf reads messages up to 100 deep; a STRUCT takes two levels, and others are around it."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class LogicalType:
    """A kind and the parameters that belong to it; others are refused.

    A precision that is None is absent, which isn't 0: TIMESTAMP writes up to six fraction digits,
    TIMESTAMP(0) none. DECIMAL without a precision holds any decimal. ARRAY, MAP and STRUCT may
    leave out what they are made of.
    """

    kind: Kind
    precision: int | None = None
    scale: int | None = None
    temporal_precision: int | None = None
    interval_range: IntervalRange = IntervalRange.UNSPECIFIED
    interval_leading_precision: int | None = None
    interval_fractional_precision: int | None = None
    element: "LogicalType | None" = None
    key: "LogicalType | None" = None
    value: "LogicalType | None" = None
    fields: "tuple[StructField, ...]" = ()
    depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._refuse_foreign_parameters()
        self._measure_depth()
        match self.kind:
            case Kind.DECIMAL:
                self._check_decimal()
            case Kind.TIME | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                self._check_range("temporal_precision", 0, MAX_TEMPORAL_PRECISION)
            case Kind.INTERVAL:
                self._check_interval()
            case Kind.MAP:
                self._check_map()
            case Kind.STRUCT:
                self._check_field_names()
            case _:
                pass

    def _refuse_foreign_parameters(self) -> None:
        allowed = _PARAMETERS.get(self.kind, frozenset())
        for parameter in fields(self)[1:]:
            if parameter.name in allowed or not parameter.init:
                continue
            if getattr(self, parameter.name) != parameter.default:
                raise InvalidTypeError(f"{self.kind.name} has no {parameter.name}; leave it out")

    def _measure_depth(self) -> None:
        parts = [self.element, self.key, self.value, *(part.type for part in self.fields)]
        depth = 1 + max((part.depth for part in parts if part is not None), default=0)
        if depth > MAX_DEPTH:
            raise InvalidTypeError(f"types nest at most {MAX_DEPTH} deep, and this one goes deeper")
        object.__setattr__(self, "depth", depth)

    def _check_range(self, parameter: str, low: int, high: int) -> None:
        given = getattr(self, parameter)
        if given is not None and not low <= given <= high:
            raise InvalidTypeError(
                f"{self.kind.name}'s {parameter} is {low} to {high}, and {given} isn't"
            )

    def _check_decimal(self) -> None:
        if self.precision is None:
            if self.scale is not None:
                raise InvalidTypeError("a DECIMAL with a scale needs a precision too")
            return
        self._check_range("precision", 1, MAX_DECIMAL_PRECISION)
        if self.scale is None:
            object.__setattr__(self, "scale", 0)
        self._check_range("scale", 0, self.precision)

    def _check_interval(self) -> None:
        self._check_range("interval_leading_precision", 0, MAX_INTERVAL_LEADING_PRECISION)
        self._check_range("interval_fractional_precision", 0, MAX_TEMPORAL_PRECISION)
        has_fraction = self.interval_fractional_precision is not None
        if has_fraction and self.interval_range is IntervalRange.YEAR_TO_MONTH:
            raise InvalidTypeError("INTERVAL YEAR TO MONTH has no fractional precision")
        has_leading = self.interval_leading_precision is not None
        if has_leading and self.interval_range is IntervalRange.UNSPECIFIED:
            raise InvalidTypeError("an INTERVAL with a leading precision needs a range")

    def _check_map(self) -> None:
        if (self.key is None) != (self.value is None):
            raise InvalidTypeError("a MAP states both its key and its value, or neither")

    def _check_field_names(self) -> None:
        names = [each.name for each in self.fields]
        if len(set(names)) != len(names):
            raise InvalidTypeError(f"a STRUCT names a field twice: {', '.join(names)}")

    @override
    def __str__(self) -> str:
        """The canonical type string."""
        name = self.kind.name
        match self.kind:
            case Kind.DECIMAL if self.precision is not None:
                return f"{name}({self.precision},{self.scale})"
            case Kind.TIME | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return name + _parenthesised(self.temporal_precision)
            case Kind.INTERVAL:
                return self._interval_string()
            case Kind.ARRAY if self.element is not None:
                return f"{name}<{self.element}>"
            case Kind.MAP if self.key is not None:
                return f"{name}<{self.key}, {self.value}>"
            case Kind.STRUCT if self.fields:
                return f"{name}<{', '.join(map(str, self.fields))}>"
            case _:
                return name

    def _interval_string(self) -> str:
        leading = _parenthesised(self.interval_leading_precision)
        fraction = _parenthesised(self.interval_fractional_precision)
        match self.interval_range:
            case IntervalRange.UNSPECIFIED:
                return f"INTERVAL{fraction}"
            case IntervalRange.YEAR_TO_MONTH:
                return f"INTERVAL YEAR{leading} TO MONTH"
            case IntervalRange.DAY_TO_SECOND:
                return f"INTERVAL DAY{leading} TO SECOND{fraction}"


@dataclass(frozen=True, slots=True)
class StructField:
    """A field of a STRUCT. `field_id` is the source's, where it has one."""

    name: str
    type: LogicalType
    nullable: bool = True
    field_id: int | None = None

    @override
    def __str__(self) -> str:
        plain = _IDENTIFIER.fullmatch(self.name) is not None
        name = self.name if plain else '"' + self.name.replace('"', '""') + '"'
        return f"{name}: {self.type}{'' if self.nullable else ' NOT NULL'}"


def decimal_type(precision: int, scale: int) -> LogicalType:
    """The DECIMAL for a source's precision and scale.

    Arrow and PostgreSQL allow a negative scale, and PostgreSQL one above the precision: those
    become the narrowest DECIMAL that holds the same values.
    """
    if scale < 0:
        return LogicalType(Kind.DECIMAL, precision=precision - scale, scale=0)
    return LogicalType(Kind.DECIMAL, precision=max(precision, scale), scale=scale)


def _parenthesised(precision: int | None) -> str:
    return "" if precision is None else f"({precision})"


_PARAMETERS: Final = {
    Kind.DECIMAL: frozenset({"precision", "scale"}),
    Kind.TIME: frozenset({"temporal_precision"}),
    Kind.TIMESTAMP: frozenset({"temporal_precision"}),
    Kind.TIMESTAMPTZ: frozenset({"temporal_precision"}),
    Kind.INTERVAL: frozenset(
        {"interval_range", "interval_leading_precision", "interval_fractional_precision"}
    ),
    Kind.ARRAY: frozenset({"element"}),
    Kind.MAP: frozenset({"key", "value"}),
    Kind.STRUCT: frozenset({"fields"}),
}

BOOLEAN: Final = LogicalType(Kind.BOOLEAN)
INT: Final = LogicalType(Kind.INT)
FLOAT: Final = LogicalType(Kind.FLOAT)
DOUBLE: Final = LogicalType(Kind.DOUBLE)
DATE: Final = LogicalType(Kind.DATE)
TIME: Final = LogicalType(Kind.TIME)
TIMESTAMP: Final = LogicalType(Kind.TIMESTAMP)
TIMESTAMPTZ: Final = LogicalType(Kind.TIMESTAMPTZ)
STRING: Final = LogicalType(Kind.STRING)
BINARY: Final = LogicalType(Kind.BINARY)
UUID: Final = LogicalType(Kind.UUID)
DECIMAL: Final = LogicalType(Kind.DECIMAL)
INTERVAL: Final = LogicalType(Kind.INTERVAL)
JSON: Final = LogicalType(Kind.JSON)
ARRAY: Final = LogicalType(Kind.ARRAY)
MAP: Final = LogicalType(Kind.MAP)
STRUCT: Final = LogicalType(Kind.STRUCT)
VARIANT: Final = LogicalType(Kind.VARIANT)
