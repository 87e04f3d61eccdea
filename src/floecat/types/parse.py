"""Type strings to logical types: ours, and every common name others have for them.

Case and spaces don't matter: `DECIMAL(38,4)`, `timestamp (3) with time zone`, `int4[]`,
`row(a bigint, b map(varchar, double))`, `INTERVAL DAY(2) TO SECOND(6)`.
"""

from dataclasses import replace
from typing import Final

from floecat.types import logical as types
from floecat.types.aliases import ALIASES, ZONED_TIMES
from floecat.types.errors import InvalidTypeError, UnsupportedTypeError, shown
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.lexer import END, Token, tokens_of
from floecat.types.logical import (
    MAX_DECIMAL_PRECISION,
    MAX_DEPTH,
    LogicalType,
    StructField,
    decimal_type,
)

_MAX_WORDS: Final = 3
_MAX_NUMERIC_PRECISION: Final = 1_000
"""PostgreSQL's NUMERIC goes as far, and then says as little as one without a precision."""
_CLOSING: Final = {"<": ">", "(": ")"}
_YEAR_FIELDS: Final = ("year", "month")
_DAY_FIELDS: Final = ("day", "hour", "minute", "second")


def parse_type(text: str) -> LogicalType:
    """The logical type a type string names; raises `InvalidTypeError` or `UnsupportedTypeError`."""
    parser = _Parser(text)
    logical = parser.type()
    parser.expect_end()
    return logical


class _Parser:
    """Recursive descent over one type string."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._position = 0
        self._depth = 0

    def type(self) -> LogicalType:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise InvalidTypeError(f"types nest at most {MAX_DEPTH} deep, and this one goes deeper")
        logical = self._with_array_suffixes(self._base())
        self._depth -= 1
        return logical

    def expect_end(self) -> None:
        if self._peek() is not END:
            raise self._error()

    def _base(self) -> LogicalType:
        name, logical = self._name()
        match logical.kind:
            case Kind.ARRAY:
                return self._array()
            case Kind.MAP:
                return self._map()
            case Kind.STRUCT:
                return self._struct()
            case Kind.INTERVAL:
                return self._interval()
            case Kind.TIME | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return self._temporal(logical)
            case Kind.DECIMAL:
                return self._decimal(name, logical)
            case Kind.FLOAT if name == "float":
                return self._float(logical)
            case Kind.STRING | Kind.BINARY | Kind.INT:
                self._skip_length(name)
                return logical
            case _:
                return logical

    def _name(self) -> tuple[str, LogicalType]:
        """The name that starts here, and what it means."""
        name = self._find_name(self._position)
        if name is not None:
            self._position += len(name.split())
            return name, ALIASES[name]
        if not self._peek().word:
            raise self._error()
        if self._peek().word in ZONED_TIMES:
            raise self._zoned_time()
        raise UnsupportedTypeError(
            f"{shown(self._peek().text)} in type {shown(self._text)} isn't a type Floecat knows"
        )

    def _find_name(self, position: int) -> str | None:
        """The longest name in the table that starts at a token."""
        for count in range(_MAX_WORDS, 0, -1):
            tokens = self._tokens[position : position + count]
            name = " ".join(token.word for token in tokens)
            if name in ALIASES:
                return name
        return None

    def _with_array_suffixes(self, logical: LogicalType) -> LogicalType:
        """`int[]`, `int[3][]`, `int array` and `int array[3]`."""
        if self._accept_words("array"):
            logical = LogicalType(Kind.ARRAY, element=logical)
            self._accept_size()
        while self._accept_size():
            logical = LogicalType(Kind.ARRAY, element=logical)
        return logical

    def _accept_size(self) -> bool:
        if not self._accept("["):
            return False
        if self._peek().sort == "number":
            self._take()
        self._expect("]")
        return True

    def _array(self) -> LogicalType:
        closing = self._opening()
        if closing is None:
            return LogicalType(Kind.ARRAY)
        element = self.type()
        self._expect(closing)
        return LogicalType(Kind.ARRAY, element=element)

    def _map(self) -> LogicalType:
        closing = self._opening()
        if closing is None:
            return LogicalType(Kind.MAP)
        key = self.type()
        self._expect(",")
        value = self.type()
        self._expect(closing)
        return LogicalType(Kind.MAP, key=key, value=value)

    def _struct(self) -> LogicalType:
        closing = self._opening()
        if closing is None or self._accept(closing):
            return LogicalType(Kind.STRUCT)
        fields = [self._field(0)]
        while self._accept(","):
            fields.append(self._field(len(fields)))
        self._expect(closing)
        return LogicalType(Kind.STRUCT, fields=tuple(fields))

    def _field(self, index: int) -> StructField:
        name = f"field{index}" if self._is_nameless() else self._field_name()
        logical = self.type()
        nullable = not self._accept_words("not", "null")
        if self._accept_words("comment"):
            self._take()
        return StructField(name, logical, nullable)

    def _is_nameless(self) -> bool:
        """Whether a field is only its type, as in `row(bigint, double precision)`.

        Trino calls such fields `field0`, `field1` and so on, by their place.
        """
        follows = self._tokens[self._position + 1 : self._position + 2]
        has_name = follows == [Token("mark", ":")] or self._find_name(self._position + 1)
        return not has_name and self._find_name(self._position) is not None

    def _field_name(self) -> str:
        name = self._take()
        if name.sort not in {"word", "quoted"}:
            raise self._error()
        self._accept(":")
        return name.text

    def _temporal(self, logical: LogicalType) -> LogicalType:
        precision = self._numbers(at_most=1)
        if precision:
            logical = replace(logical, temporal_precision=precision[0])
        if self._accept_words("without", "time", "zone"):
            return logical
        if not (
            self._accept_words("with", "time", "zone")
            or self._accept_words("with", "local", "time", "zone")
        ):
            return logical
        if logical.kind is Kind.TIME:
            raise self._zoned_time()
        return replace(logical, kind=Kind.TIMESTAMPTZ)

    def _zoned_time(self) -> UnsupportedTypeError:
        return UnsupportedTypeError(
            f"{shown(self._text)}: a time of day with a zone has no logical type; use TIME"
        )

    def _decimal(self, name: str, logical: LogicalType) -> LogicalType:
        numbers = self._numbers(at_most=2)
        if not numbers:
            return logical
        precision, scale = (*numbers, 0)[:2]
        holds = max(precision, scale, precision - scale)
        if name == "numeric" and MAX_DECIMAL_PRECISION < holds <= _MAX_NUMERIC_PRECISION:
            return types.DECIMAL
        return decimal_type(precision, scale)

    def _float(self, logical: LogicalType) -> LogicalType:
        """SQL's FLOAT(n) counts bits of the mantissa: up to 24 are single precision."""
        bits = self._numbers(at_most=1)
        return replace(logical, kind=Kind.DOUBLE) if bits and bits[0] > 24 else logical

    def _interval(self) -> LogicalType:
        precision = self._numbers(at_most=1)
        if precision:
            return LogicalType(Kind.INTERVAL, interval_fractional_precision=precision[0])
        first = self._peek().word
        if first not in _YEAR_FIELDS + _DAY_FIELDS:
            return LogicalType(Kind.INTERVAL)
        leading, fraction = self._interval_field()
        if self._accept_words("to"):
            family = _YEAR_FIELDS if first in _YEAR_FIELDS else _DAY_FIELDS
            if self._peek().word not in family[family.index(first) + 1 :]:
                raise self._error()
            fraction = self._interval_end()
        return LogicalType(
            Kind.INTERVAL,
            interval_range=_range_of(first),
            # A leading precision counts years or days; that of another field means something else.
            interval_leading_precision=leading if first in {"year", "day"} else None,
            interval_fractional_precision=fraction,
        )

    def _interval_field(self) -> tuple[int | None, int | None]:
        """The leading and the fractional precision of an interval's first field."""
        field = self._take().word
        numbers = self._numbers(at_most=2 if field == "second" else 1)
        leading = numbers[0] if numbers else None
        return leading, numbers[1] if len(numbers) == 2 else None

    def _interval_end(self) -> int | None:
        """The fractional precision of an interval's last field."""
        field = self._take().word
        numbers = self._numbers(at_most=1) if field == "second" else []
        return numbers[0] if numbers else None

    def _skip_length(self, name: str) -> None:
        """Lengths, display widths and an enumeration's values don't change the logical type."""
        if name == "fixed" and self._accept("["):
            self._take()
            self._expect("]")
        elif self._accept("("):
            while not self._accept(")"):
                if self._take() is END:
                    raise self._error()

    def _numbers(self, at_most: int) -> list[int]:
        """The numbers in parentheses, if there are any."""
        if not self._accept("("):
            return []
        numbers = [self._number()]
        while len(numbers) < at_most and self._accept(","):
            numbers.append(self._number())
        self._expect(")")
        return numbers

    def _number(self) -> int:
        token = self._take()
        if token.sort != "number" or len(token.text) > 9:
            raise self._error()
        return int(token.text)

    def _opening(self) -> str | None:
        """The closing mark of the bracket that opens here, or None when none does."""
        closing = _CLOSING.get(self._peek().text) if self._peek().sort == "mark" else None
        if closing is not None:
            self._take()
        return closing

    def _peek(self) -> Token:
        return self._tokens[self._position]

    def _take(self) -> Token:
        token = self._peek()
        if token is not END:
            self._position += 1
        return token

    def _accept(self, mark: str) -> bool:
        found = self._peek() == Token("mark", mark)
        self._position += found
        return found

    def _accept_words(self, *words: str) -> bool:
        tokens = self._tokens[self._position : self._position + len(words)]
        found = tuple(token.word for token in tokens) == words
        self._position += len(words) if found else 0
        return found

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise self._error()

    def _error(self) -> InvalidTypeError:
        where = "its end" if self._peek() is END else shown(self._peek().text)
        return InvalidTypeError(f"type {shown(self._text)} isn't one Floecat can read, at {where}")


def _range_of(field: str) -> IntervalRange:
    return IntervalRange.YEAR_TO_MONTH if field in _YEAR_FIELDS else IntervalRange.DAY_TO_SECOND
