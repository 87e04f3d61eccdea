"""Iceberg's single-value bytes: pyiceberg's where it is right, both ways, alone and in arrays."""

import datetime as dt
import math
import struct
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg import conversions
from pyiceberg import types as iceberg
from tests.support.arrow import ARRAYS, draw
from tests.support.types import DOUBLES, FLOATS, OFFSETS, is_nan

from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.errors import InvalidTypeError, InvalidValueError, UnsupportedTypeError
from floecat.types.logical import LogicalType
from floecat.types.singlevalue.decode import decode_single_values
from floecat.types.singlevalue.encode import encode_single_values
from floecat.types.singlevalue.primitives import (
    Primitive,
    PrimitiveName,
    find_primitive,
    primitive_of_arrow,
    primitive_of_logical,
)
from floecat.types.singlevalue.scalar import decode_single_value, encode_single_value


def primitive(text: str) -> Primitive:
    found = find_primitive(text)
    assert found is not None
    return found


INT64 = st.integers(-(2**63), 2**63 - 1)
NANO_YEARS = st.datetimes().map(lambda at: at.replace(year=1700 + at.year % 400, day=1))
PEER: dict[str, tuple[iceberg.PrimitiveType, st.SearchStrategy[Any]]] = {
    "boolean": (iceberg.BooleanType(), st.booleans()),
    "int": (iceberg.IntegerType(), st.integers(-(2**31), 2**31 - 1)),
    "long": (iceberg.LongType(), INT64),
    "float": (iceberg.FloatType(), FLOATS),
    "double": (iceberg.DoubleType(), DOUBLES),
    "date": (iceberg.DateType(), st.dates()),
    "time": (iceberg.TimeType(), st.times()),
    "timestamp": (iceberg.TimestampType(), st.datetimes()),
    "timestamptz": (iceberg.TimestamptzType(), st.datetimes(timezones=OFFSETS)),
    "timestamp_ns": (iceberg.TimestampNanoType(), NANO_YEARS),
    "timestamptz_ns": (
        iceberg.TimestamptzNanoType(),
        NANO_YEARS.map(lambda at: at.replace(tzinfo=dt.UTC)),
    ),
    "string": (iceberg.StringType(), st.text()),
    "uuid": (iceberg.UUIDType(), st.uuids()),
    "fixed[4]": (iceberg.FixedType(4), st.binary(min_size=4, max_size=4)),
    "binary": (iceberg.BinaryType(), st.binary()),
    # pyiceberg wants exactly the type's fraction digits, so that is what it gets here.
    "decimal(20, 3)": (
        iceberg.DecimalType(20, 3),
        st.integers(-(10**20) + 1, 10**20 - 1).map(lambda n: Decimal(n).scaleb(-3)),
    ),
    "decimal(9, 0)": (iceberg.DecimalType(9, 0), st.integers(-(10**9) + 1, 10**9 - 1).map(Decimal)),
}


def test_every_primitive_is_compared_with_pyiceberg() -> None:
    assert {primitive(name).name for name in PEER} == set(PrimitiveName)


@given(st.sampled_from(sorted(PEER)).flatmap(lambda name: st.tuples(st.just(name), PEER[name][1])))
def test_bytes_equal_pyicebergs(drawn: tuple[str, Any]) -> None:
    name, value = drawn
    if isinstance(value, float) and math.isnan(value):
        value = math.nan  # ours has one, pyiceberg as many as there are bits for
    theirs = conversions.to_bytes(PEER[name][0], value)
    assert encode_single_value(primitive(name), value) == theirs


@given(st.sampled_from(sorted(PEER)).flatmap(lambda name: st.tuples(st.just(name), PEER[name][1])))
def test_bytes_round_trip(drawn: tuple[str, Any]) -> None:
    name, value = drawn
    data = encode_single_value(primitive(name), value)
    decoded = decode_single_value(primitive(name), data)
    if not is_nan(value):
        assert decoded == (value if "_ns" not in name else _numpy(value))
    assert encode_single_value(primitive(name), decoded) == data


def _numpy(value: dt.datetime) -> np.datetime64:
    return np.datetime64(value.replace(tzinfo=None), "ns")


WRONG_IN_PYICEBERG: list[tuple[str, iceberg.PrimitiveType, object, str]] = [
    # The exponent is dropped: 100 is written as 0.01.
    ("decimal(10, 2)", iceberg.DecimalType(10, 2), Decimal("1E+2"), "2710"),
    (
        "decimal(38, 0)",
        iceberg.DecimalType(38, 0),
        Decimal("-1E+36"),
        "ff3f68318436f8ea4cb460f000000000",
    ),
    # A value with fewer or more digits than the scale is refused, though it is one of the type.
    ("decimal(10, 2)", iceberg.DecimalType(10, 2), Decimal("1.5"), "0096"),
    ("decimal(10, 2)", iceberg.DecimalType(10, 2), Decimal(0), "00"),
    ("decimal(10, 2)", iceberg.DecimalType(10, 2), Decimal("-1.2800"), "80"),
]


@pytest.mark.parametrize(("name", "peer", "value", "right"), WRONG_IN_PYICEBERG)
def test_where_pyiceberg_is_wrong(
    name: str, peer: iceberg.PrimitiveType, value: Decimal, right: str
) -> None:
    """If pyiceberg mends one of these, this test says so: move the case to `PEER`."""
    try:
        theirs = conversions.to_bytes(peer, value).hex()
    except ValueError:
        theirs = "refused"
    assert theirs != right
    ours = encode_single_value(primitive(name), value)
    assert ours.hex() == right
    assert decode_single_value(primitive(name), ours) == value


def test_where_pyiceberg_can_not_read_a_promoted_column() -> None:
    """Iceberg lets a date become a timestamp; old files keep their four bytes."""
    data = struct.pack("<i", 1)
    with pytest.raises(struct.error):
        conversions.from_bytes(iceberg.TimestampType(), data)
    assert decode_single_value(primitive("timestamp"), data) == dt.datetime(1970, 1, 2)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("name", "data", "value"),
    [
        ("long", struct.pack("<i", -5), -5),
        ("double", struct.pack("<f", 1.5), 1.5),
        ("timestamptz", struct.pack("<i", -1), dt.datetime(1969, 12, 31, tzinfo=dt.UTC)),
        ("timestamp_ns", struct.pack("<i", 1), np.datetime64("1970-01-02", "ns")),
        ("decimal(20, 2)", b"\x01", Decimal("0.01")),
    ],
)
def test_promoted_columns_decode_by_length(name: str, data: bytes, value: object) -> None:
    assert decode_single_value(primitive(name), data) == value
    array = decode_single_values(primitive(name), pa.array([None, data]))
    assert array.null_count == 1
    encoders, logical = ValueEncoders(), primitive(name).logical
    text = encoders.encode_to_string(logical, array[1])
    assert text == encoders.encode_to_string(logical, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("int", 2**31),
        ("long", 2**63),
        ("date", 2**31),
        ("timestamp", np.datetime64(2**62, "s")),
        ("timestamp_ns", dt.datetime(9999, 1, 1)),  # noqa: DTZ001  # a wall clock on purpose
        ("decimal(9, 2)", Decimal("0.001")),
        ("boolean", 1),
        ("fixed[3]", bytes(4)),
        ("string", b"\xff"),
        ("timestamptz", dt.datetime(2024, 1, 1)),  # noqa: DTZ001  # refused for having no zone
    ],
)
def test_what_does_not_fit_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidValueError):
        encode_single_value(primitive(name), value)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("boolean", b""),
        ("int", bytes(8)),
        ("long", bytes(5)),
        ("float", bytes(8)),
        ("double", bytes(2)),
        ("date", bytes(8)),
        ("time", bytes(4)),
        ("time", struct.pack("<q", 86_400_000_000)),
        ("timestamp", bytes(3)),
        ("uuid", bytes(15)),
        ("decimal(9, 2)", b""),
        ("decimal(9, 2)", bytes(17)),
        ("decimal(38, 2)", b"\x01" * 20),
        ("timestamp", struct.pack("<i", 2**31 - 1)),
        ("timestamp_ns", struct.pack("<i", 106_752)),
        ("timestamptz_ns", struct.pack("<i", -(2**31))),
        ("fixed[3]", bytes(4)),
        ("string", b"\xff"),
    ],
)
def test_bytes_of_no_value_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(InvalidValueError):
        decode_single_value(primitive(name), data)
    with pytest.raises(InvalidValueError):
        decode_single_values(primitive(name), pa.array([data]))


def encodable(name: str) -> bool:
    arrow_type = draw(name, 0)[1].type
    return not (pa.types.is_decimal(arrow_type) and arrow_type.precision > 38)


@pytest.mark.parametrize("name", [name for name in ARRAYS if encodable(name)])
@pytest.mark.parametrize("count", [1_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_arrays_equal_scalars_both_ways(name: str, count: int) -> None:
    _, array = draw(name, count, seed=2)
    kind = primitive_of_arrow(array.type)
    assert kind is not None
    array = _within(kind, array)[3:]
    encoded = encode_single_values(kind, array)
    encoded.validate(full=True)
    assert encoded.to_pylist() == [
        encode_single_value(kind, x) if x.is_valid else None for x in array
    ]
    decoded = decode_single_values(kind, encoded)
    decoded.validate()
    expected = [None if x is None else decode_single_value(kind, x) for x in encoded.to_pylist()]
    texts = ValueEncoders().encode_array_to_strings(kind.logical, decoded).to_pylist()
    assert texts == [
        None if x is None else ValueEncoders().encode_to_string(kind.logical, x) for x in expected
    ]


def _within(kind: Primitive, array: pa.Array) -> pa.Array:
    """The array without what the primitive can't hold (far dates, seconds beyond microseconds)."""

    def fits(scalar: pa.Scalar) -> bool:
        try:
            encode_single_value(kind, scalar)
        except InvalidValueError:
            return False
        return True

    if pa.types.is_timestamp(array.type) or pa.types.is_date64(array.type):
        keep = [not scalar.is_valid or fits(scalar) for scalar in array]
        return array.filter(pa.array(keep))
    return array


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("int", pa.array([2**40])),
        ("long", pa.array([2**64 - 1], pa.uint64())),
        ("timestamp", pa.array([2**62], pa.timestamp("s"))),
        ("timestamp_ns", pa.array([2**62], pa.timestamp("us"))),
        ("timestamptz", pa.array([0], pa.timestamp("us"))),
        ("time", pa.array([86_400]).cast(pa.int32()).view(pa.time32("s"))),
        ("string", pa.array([b"\xff"])),
        ("fixed[3]", pa.array([b"1234", None, b"123"])),
        ("fixed[3]", pa.array([b"1234"], pa.binary(4))),
        ("decimal(9, 1)", pa.array([Decimal("0.01")])),
    ],
)
def test_arrays_refuse_what_does_not_fit(name: str, array: pa.Array) -> None:
    with pytest.raises(InvalidValueError):
        encode_single_values(primitive(name), array)


@pytest.mark.parametrize(
    ("name", "array", "expected"),
    [
        ("decimal(20, 0)", pa.array([2**64 - 1, 0], pa.uint64()), ["00ffffffffffffffff", "00"]),
        ("decimal(9, 2)", pa.array([Decimal("1.5"), None]), ["0096", None]),
        ("long", pa.array([1, None], pa.uint32()), ["0100000000000000", None]),
        ("uuid", pa.array([str(uuid.UUID(int=1)), None]), ["0" * 31 + "1", None]),
        ("string", pa.array(["é", None]).dictionary_encode(), ["c3a9", None]),
        ("int", pa.nulls(2), [None, None]),
    ],
)
def test_arrays_of_other_types_are_converted(
    name: str, array: pa.Array, expected: list[str | None]
) -> None:
    encoded = encode_single_values(primitive(name), array).to_pylist()
    assert [None if data is None else data.hex() for data in encoded] == expected


def test_every_nan_has_the_same_bytes_and_zeros_keep_their_sign() -> None:
    doubles = np.array([0x7FF8000000000001, 0xFFF0000000000001, 1 << 63], dtype=np.uint64)
    array = pa.array(doubles.view(np.float64), from_pandas=False)
    encoded = encode_single_values(primitive("double"), array).to_pylist()
    assert [data.hex() for data in encoded] == [
        "000000000000f87f",
        "000000000000f87f",
        "0000000000000080",
    ]
    assert encoded == [encode_single_value(primitive("double"), value) for value in array]


def test_more_bytes_than_a_decimal_has_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="17 bytes"):
        decode_single_values(primitive("decimal(38, 0)"), pa.array([b"\x01" + bytes(16)]))


@pytest.mark.parametrize("logical", [types.DECIMAL, types.INTERVAL, types.ARRAY, types.VARIANT])
def test_types_without_a_primitive_name_the_column(logical: LogicalType) -> None:
    with pytest.raises(UnsupportedTypeError, match="column 'a'"):
        primitive_of_logical(logical, "a")


@pytest.mark.parametrize(
    "text", ["decimal", "decimal(9)", "fixed", "int(4)", "long[3]", "bigint", ""]
)
def test_what_is_no_primitive_is_not_found(text: str) -> None:
    assert find_primitive(text) is None


def test_an_impossible_decimal_is_refused() -> None:
    with pytest.raises(InvalidTypeError):
        find_primitive("decimal(39, 2)")


@pytest.mark.parametrize("name", PEER)
def test_primitives_print_as_they_are_read(name: str) -> None:
    assert str(primitive(name)) == name
    assert str(primitive(f" {name.upper()} ")) == name


def test_a_bound_of_a_fixed_value_may_be_cut_short() -> None:
    """Iceberg's writers cut the bounds of long `fixed` columns as they cut those of `binary`."""
    kind, data = primitive("fixed[32]"), b"0123456789abcdef"
    assert decode_single_value(kind, data) == encode_single_value(kind, data) == data
    assert decode_single_values(kind, pa.array([data, None])).to_pylist() == [data, None]
    assert encode_single_values(kind, pa.array([data, None])).to_pylist() == [data, None]


def _scalar_text(kind: Primitive, data: bytes) -> str | None:
    try:
        return ValueEncoders().encode_to_string(kind.logical, decode_single_value(kind, data))
    except InvalidValueError:
        return None


def _array_text(kind: Primitive, data: bytes) -> str | None:
    try:
        decoded = decode_single_values(kind, pa.array([data]))
    except InvalidValueError:
        return None
    text: str = ValueEncoders().encode_array_to_strings(kind.logical, decoded)[0].as_py()
    return text


INTERESTING_COUNTS = st.sampled_from([-(2**63), 2**63 - 1, 0, -1, 86_400_000_000])


@given(
    st.sampled_from(sorted(PEER)),
    st.binary(max_size=20)
    | st.sampled_from([4, 8]).flatmap(lambda size: st.binary(min_size=size, max_size=size))
    | INTERESTING_COUNTS.map(lambda count: struct.pack("<q", count)),
)
def test_arrays_take_and_refuse_the_bytes_that_scalars_do(name: str, data: bytes) -> None:
    kind = primitive(name)
    assert _array_text(kind, data) == _scalar_text(kind, data)
