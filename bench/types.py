"""Encoding to canonical strings beside pyarrow's own cast to strings, and scalar doubles.

Floors: a third of pyarrow's speed for integers, dates and timestamps (that is, at most 3 × its
time), and a double in 6 µs. Both sides take turns and the best turn counts: machines are busy.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from bench.report import Measurement, Report
from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.logical import LogicalType

VALUES = 1_000_000
SCALARS = 20_000
TURNS = 7
SHARE_OF_PYARROW = 1 / 3
DOUBLES_PER_SECOND = 1 / 6e-6

ENCODERS = ValueEncoders()


def columns() -> Iterator[tuple[str, LogicalType, pa.Array, float | None]]:
    """A name, the logical type, the array, and the floor of its ratio."""
    rng = np.random.default_rng(3)
    seconds = rng.integers(0, 2_000_000_000, VALUES)
    micros = pa.array(seconds * 1_000_000 + rng.integers(0, 1_000_000, VALUES))
    days = pa.array((seconds // 86_400).astype(np.int32))
    int64, int32 = rng.integers(-(2**62), 2**62, VALUES), rng.integers(0, 2**31, VALUES)
    floor = SHARE_OF_PYARROW
    yield "int64", types.INT, pa.array(int64), floor
    yield "int32", types.INT, pa.array(int32.astype(np.int32)), floor
    yield "date32", types.DATE, days.cast(pa.date32()), floor
    yield "timestamp us", types.TIMESTAMP, micros.cast(pa.timestamp("us")), floor
    yield "timestamp s", types.TIMESTAMP, pa.array(seconds).cast(pa.timestamp("s")), floor
    yield "timestamp us UTC", types.TIMESTAMPTZ, micros.cast(pa.timestamp("us", "UTC")), floor
    yield "double", types.DOUBLE, pa.array(rng.normal(0, 1_000, VALUES)), None
    decimals = pa.array(rng.integers(0, 10**9, VALUES)).cast(pa.decimal128(23, 4))
    yield "decimal128", types.DECIMAL, decimals, None


def best_seconds(*works: Callable[[], object]) -> list[float]:
    """The best time of each, of a few turns."""
    best = [float("inf")] * len(works)
    for _ in range(TURNS):
        for place, work in enumerate(works):
            started = time.perf_counter()
            work()
            best[place] = min(best[place], time.perf_counter() - started)
    return best


def encode_scalars(values: list[float]) -> None:
    for value in values:
        ENCODERS.encode_to_string(types.DOUBLE, value)


def measure() -> Report:
    report = []
    for name, logical, array, floor in columns():
        ours, peer = best_seconds(
            partial(ENCODERS.encode_array_to_strings, logical, array),
            partial(array.cast, pa.string()),
        )
        report.append(Measurement(f"{name} array", ours / VALUES * 1e9, "ns a value"))
        report.append(Measurement(f"{name} array", peer / ours, "of pyarrow's speed", floor))
    normal = np.random.default_rng(4).normal(0, 1_000, SCALARS)
    for name, values in {"plain": normal, "scientific": normal * 1e-12}.items():
        (seconds,) = best_seconds(partial(encode_scalars, values.tolist()))
        rate = SCALARS / seconds
        report.append(Measurement(f"{name} double", 1e6 / rate, "µs"))
        report.append(Measurement(f"{name} double", rate, "per second", DOUBLES_PER_SECOND))
    return report
