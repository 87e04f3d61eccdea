"""FLOAT and DOUBLE text equals Java's.

The table in `tests/fixtures/jdk` was printed by a Temurin JDK 25 with `FloatingPointTable.java`
beside it, which also says how to print it again.
"""

import gzip
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.errors import InvalidValueError
from floecat.types.values.floats import format_double, format_float, read_float

TABLE = Path(__file__).parents[2] / "fixtures" / "jdk" / "floating_point.txt.gz"


def table(letter: str, layout: str) -> Iterator[tuple[float, str]]:
    """Values and Java's text for them: doubles under `d`, floats under `f`."""
    width = 2 * struct.calcsize(layout)
    with gzip.open(TABLE, "rt", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(letter):
                _, bits, text = line.split()
                yield struct.unpack(layout, bytes.fromhex(bits.zfill(width)))[0], text


def test_the_table_is_large_and_from_a_new_jdk() -> None:
    with gzip.open(TABLE, "rt", encoding="ascii") as lines:
        assert next(lines).startswith("# Eclipse Adoptium 25.")
    assert len(set(table("d", ">d"))) >= 10_000
    assert len(set(table("f", ">f"))) >= 10_000


def test_doubles_equal_the_jdk() -> None:
    wrong = [
        (java, ours) for value, java in table("d", ">d") if (ours := format_double(value)) != java
    ]
    assert wrong == []


def test_floats_equal_the_jdk() -> None:
    wrong = [
        (java, ours) for value, java in table("f", ">f") if (ours := format_float(value)) != java
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("letter", "layout", "logical", "arrow"),
    [("d", ">d", types.DOUBLE, pa.float64()), ("f", ">f", types.FLOAT, pa.float32())],
)
def test_arrays_equal_the_jdk(
    letter: str, layout: str, logical: types.LogicalType, arrow: pa.DataType
) -> None:
    values, java = zip(*table(letter, layout), strict=True)
    ours = ValueEncoders().encode_array_to_strings(logical, pa.array(values, arrow)).to_pylist()
    assert ours == [text.replace("-0.0", "0.0") if text == "-0.0" else text for text in java]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5e-324, "4.9E-324"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (2e-323, "2.0E-323"),
        (2.2250738585072014e-308, "2.2250738585072014E-308"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (2.0**-1017, "7.120236347223045E-307"),
        (100.0, "100.0"),
        (-1234567.875, "-1234567.875"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (-0.0, "0.0"),
    ],
)
def test_canonical_doubles(value: float, text: str) -> None:
    assert ValueEncoders().encode_to_string(types.DOUBLE, value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # The shortest digits: a JDK before 19 printed 1.17549435E-38.
        (np.float32(1.17549435e-38), "1.1754944E-38"),
        (np.float32(1e-45), "1.4E-45"),
        (np.float32(0.1), "0.1"),
        (np.float32(3.4028235e38), "3.4028235E38"),
        (np.float32(9999999.0), "9999999.0"),
        (np.float32(1e7), "1.0E7"),
        (np.float16(0.1), "0.099975586"),
        (np.float32("-0"), "0.0"),
        (0.1, "0.1"),
    ],
)
def test_canonical_floats(value: object, text: str) -> None:
    assert ValueEncoders().encode_to_string(types.FLOAT, value) == text


def test_text_is_rounded_to_a_float_once() -> None:
    """By way of a double this would land on the midpoint, and then on the wrong neighbour."""
    text = "1.00000017881393432617187499"
    assert float(np.float32(float(text))) == 1.0000002384185791
    assert read_float(text) == 1.0000001192092896


@pytest.mark.parametrize("value", ["1_0", " 1.0", "0x1p3", "", "1.0f", None, True, b"1", 10**400])
def test_what_is_not_a_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidValueError):
        ValueEncoders().encode_to_string(types.DOUBLE, value)


@pytest.mark.parametrize("value", [1e39, "1e39", "1e400", 10**39])
def test_what_a_float_can_not_hold_is_refused(value: object) -> None:
    with pytest.raises(InvalidValueError, match="DOUBLE"):
        ValueEncoders().encode_to_string(types.FLOAT, value)
