"""Arrow arrays of every type the `types` room takes, drawn from a seeded generator.

Uniform bit patterns reach far years, subnormals and NaNs; a second half of everyday values reaches
what real columns look like. Every tenth value is NULL.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from floecat.types import logical as types
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

Generator = np.random.Generator
Build = Callable[[Generator, int], pa.Array]


def _with_nulls(rng: Generator, values: Any, arrow_type: pa.DataType) -> pa.Array:
    mask = rng.random(len(values)) < 0.1
    return pa.array(values, arrow_type, mask=mask)


def _integers(arrow_type: pa.DataType) -> Build:
    def build(rng: Generator, count: int) -> pa.Array:
        dtype = arrow_type.to_pandas_dtype()
        limits = np.iinfo(dtype)
        wild = rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
        tame = rng.integers(0, 100, count).astype(dtype)
        return _with_nulls(rng, np.where(rng.random(count) < 0.5, wild, tame), arrow_type)

    return build


def _floats(arrow_type: pa.DataType) -> Build:
    def build(rng: Generator, count: int) -> pa.Array:
        dtype = arrow_type.to_pandas_dtype()
        bits = rng.bytes(count * np.dtype(dtype).itemsize)
        wild = np.frombuffer(bits, dtype=dtype)
        with np.errstate(over="ignore"):
            tame = np.round(rng.normal(0, 1e4, count), 3).astype(dtype)
        choice = rng.random(count)
        values = np.where(choice < 0.5, wild, np.where(choice < 0.6, np.round(tame), tame))
        return _with_nulls(rng, values, arrow_type)

    return build


def _counts(arrow_type: pa.DataType, tame: tuple[int, int], wild: tuple[int, int]) -> Build:
    """Counts of a temporal type: half of them from either range, half of those round."""

    def build(rng: Generator, count: int) -> pa.Array:
        near, far = rng.integers(*tame, count), rng.integers(*wild, count)
        values = np.where(rng.random(count) < 0.7, near, far)
        values = np.where(rng.random(count) < 0.3, values // 1_000 * 1_000, values)
        values = np.maximum(values, min(tame[0], wild[0]))
        width = pa.int32() if arrow_type.bit_width == 32 else pa.int64()
        return _with_nulls(rng, values, width).view(arrow_type)

    return build


def _timestamps(unit: str, zone: str | None) -> Build:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    tame = (-(10**9) * per_second, 4 * 10**9 * per_second)
    return _counts(pa.timestamp(unit, zone), tame, (-(2**63) + 1, 2**63 - 1))


def _decimals(arrow_type: pa.DataType) -> Build:
    def build(rng: Generator, count: int) -> pa.Array:
        width = arrow_type.byte_width
        rows = np.frombuffer(rng.bytes(count * width), dtype=np.uint8).reshape(count, width).copy()
        # Numbers of every length the precision has: all but the first bytes repeat the sign.
        longest = int(arrow_type.precision * math.log2(10)) // 8
        lengths = rng.integers(1, longest, count, endpoint=True)
        for length in range(1, longest + 1):
            chosen = lengths == length
            rows[chosen, length:] = (rows[chosen, length - 1 : length] >> 7) * 0xFF
        rows[rng.random(count) < 0.1] = 0
        valid = pa.array(rng.random(count) < 0.9).buffers()[1]
        return pa.Array.from_buffers(arrow_type, count, [valid, pa.py_buffer(rows)])

    return build


def _binary(arrow_type: pa.DataType, width: int | None = None) -> Build:
    def build(rng: Generator, count: int) -> pa.Array:
        lengths = rng.integers(0, 24, count) if width is None else np.full(count, width)
        return _with_nulls(rng, [rng.bytes(int(n)) for n in lengths], pa.binary()).cast(arrow_type)

    return build


def _text(arrow_type: pa.DataType) -> Build:
    letters = np.array(list("abcXYZ 0'\"é€😀\x00\n"))

    def build(rng: Generator, count: int) -> pa.Array:
        words = ["".join(rng.choice(letters, int(n))) for n in rng.integers(0, 12, 1_000)]
        return _with_nulls(rng, rng.choice(np.array(words, dtype=object), count), arrow_type)

    return build


def _booleans(rng: Generator, count: int) -> pa.Array:
    return _with_nulls(rng, rng.random(count) < 0.5, pa.bool_())


def _uuids(rng: Generator, count: int) -> pa.Array:
    storage = _binary(pa.binary(16), 16)(rng, count)
    return pa.ExtensionArray.from_storage(pa.uuid(), storage)


def _precise(kind: Kind, precision: int) -> LogicalType:
    return LogicalType(kind, temporal_precision=precision)


DAY_MICROS = 86_400 * 10**6

ARRAYS: dict[str, tuple[LogicalType, Build]] = {
    "boolean": (types.BOOLEAN, _booleans),
    "int8": (types.INT, _integers(pa.int8())),
    "int16": (types.INT, _integers(pa.int16())),
    "int32": (types.INT, _integers(pa.int32())),
    "int64": (types.INT, _integers(pa.int64())),
    "uint8": (types.INT, _integers(pa.uint8())),
    "uint16": (types.INT, _integers(pa.uint16())),
    "uint32": (types.INT, _integers(pa.uint32())),
    "uint64": (types.INT, _integers(pa.uint64())),
    "float16": (types.FLOAT, _floats(pa.float16())),
    "float32": (types.FLOAT, _floats(pa.float32())),
    "float32 as DOUBLE": (types.DOUBLE, _floats(pa.float32())),
    "float64": (types.DOUBLE, _floats(pa.float64())),
    "date32": (types.DATE, _counts(pa.date32(), (-30_000, 60_000), (-(2**31), 2**31 - 1))),
    "date64": (types.DATE, _counts(pa.date64(), (-(10**12), 10**13), (-(10**18), 10**18))),
    "days as int32": (types.DATE, _integers(pa.int32())),
    "time32[s]": (types.TIME, _counts(pa.time32("s"), (0, 86_400), (0, 86_400))),
    "time32[ms]": (types.TIME, _counts(pa.time32("ms"), (0, 86_400_000), (0, 86_400_000))),
    "time64[us]": (types.TIME, _counts(pa.time64("us"), (0, DAY_MICROS), (0, DAY_MICROS))),
    "time64[ns]": (
        types.TIME,
        _counts(pa.time64("ns"), (0, DAY_MICROS * 1_000), (0, DAY_MICROS * 1_000)),
    ),
    "time64 as TIME(3)": (
        _precise(Kind.TIME, 3),
        _counts(pa.time64("us"), (0, DAY_MICROS), (0, DAY_MICROS)),
    ),
    "timestamp[s]": (types.TIMESTAMP, _timestamps("s", None)),
    "timestamp[ms]": (types.TIMESTAMP, _timestamps("ms", None)),
    "timestamp[us]": (types.TIMESTAMP, _timestamps("us", None)),
    "timestamp[ns]": (types.TIMESTAMP, _timestamps("ns", None)),
    "timestamp as TIMESTAMP(0)": (_precise(Kind.TIMESTAMP, 0), _timestamps("us", None)),
    "timestamp as TIMESTAMP(6)": (_precise(Kind.TIMESTAMP, 6), _timestamps("ns", None)),
    "timestamptz[ms]": (types.TIMESTAMPTZ, _timestamps("ms", "Asia/Tokyo")),
    "timestamptz[us]": (types.TIMESTAMPTZ, _timestamps("us", "UTC")),
    "timestamptz[ns]": (types.TIMESTAMPTZ, _timestamps("ns", "UTC")),
    "timestamptz as TIMESTAMPTZ(2)": (_precise(Kind.TIMESTAMPTZ, 2), _timestamps("us", "UTC")),
    "string": (types.STRING, _text(pa.string())),
    "large_string": (types.STRING, _text(pa.large_string())),
    "string_view": (types.STRING, _text(pa.string_view())),
    "binary": (types.BINARY, _binary(pa.binary())),
    "large_binary": (types.BINARY, _binary(pa.large_binary())),
    "binary_view": (types.BINARY, _binary(pa.binary_view())),
    "fixed_size_binary": (types.BINARY, _binary(pa.binary(5), 5)),
    "uuid": (types.UUID, _uuids),
    "uuid in fixed_size_binary": (types.UUID, _binary(pa.binary(16), 16)),
    "decimal32": (types.DECIMAL, _decimals(pa.decimal32(9, 2))),
    "decimal64": (types.DECIMAL, _decimals(pa.decimal64(18, 9))),
    "decimal128": (types.DECIMAL, _decimals(pa.decimal128(38, 4))),
    "decimal128 whole": (types.DECIMAL, _decimals(pa.decimal128(38, 0))),
    "decimal128 negative scale": (types.DECIMAL, _decimals(pa.decimal128(30, -3))),
    "decimal256": (types.DECIMAL, _decimals(pa.decimal256(76, 20))),
    "int64 as DECIMAL": (types.DECIMAL, _integers(pa.int64())),
}
"""A name, the logical type to encode as, and how to draw an array."""


def draw(name: str, count: int, seed: int = 0) -> tuple[LogicalType, pa.Array]:
    """The logical type and an array of `count` values."""
    logical, build = ARRAYS[name]
    return logical, build(np.random.default_rng([seed, len(name), *name.encode()]), count)
