"""Encoding to canonical strings beside pyarrow's own cast to strings, in one run.

Exits with 1 when a target is missed: arrays within 3 × pyarrow, a scalar double within 6 µs.
Run it with `python -m bench.types`.
"""

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa

from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.logical import LogicalType

VALUES = 1_000_000
SCALARS = 20_000
ROUNDS = 7
MAX_RATIO = 3.0
MAX_SCALAR_MICROS = 6.0

ENCODERS = ValueEncoders()


def columns() -> dict[str, tuple[LogicalType, pa.Array, bool]]:
    """A name, the logical type, the array, and whether its ratio is a target."""
    rng = np.random.default_rng(3)
    seconds = rng.integers(0, 2_000_000_000, VALUES)
    micros = seconds * 1_000_000 + rng.integers(0, 1_000_000, VALUES)
    days = pa.array((seconds // 86_400).astype(np.int32)).cast(pa.date32())
    timestamps = pa.array(micros).cast(pa.timestamp("us"))
    return {
        "int64": (types.INT, pa.array(rng.integers(-(2**62), 2**62, VALUES)), True),
        "int32": (types.INT, pa.array(rng.integers(0, 2**31, VALUES).astype(np.int32)), True),
        "date32": (types.DATE, days, True),
        "timestamp[us]": (types.TIMESTAMP, timestamps, True),
        "timestamp[s]": (types.TIMESTAMP, pa.array(seconds).cast(pa.timestamp("s")), True),
        "timestamp[us, UTC]": (types.TIMESTAMPTZ, timestamps.cast(pa.timestamp("us", "UTC")), True),
        "double": (types.DOUBLE, pa.array(rng.normal(0, 1_000, VALUES)), False),
        "decimal128(18,4)": (
            types.DECIMAL,
            pa.array(rng.integers(0, 10**9, VALUES)).cast(pa.decimal128(23, 4)),
            False,
        ),
    }


def best_nanos(work: Callable[[], object], count: int) -> float:
    """Nanoseconds a value, in the best of a few rounds: the machine may be shared."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best / count * 1e9


def encode_scalars(values: list[float]) -> None:
    for value in values:
        ENCODERS.encode_to_string(types.DOUBLE, value)


def compare_arrays() -> list[str]:
    print(f"{'array':20} {'pyarrow':>9} {'floecat':>9} {'ratio':>6}   target {MAX_RATIO:g} ×")
    missed = []
    for name, (logical, array, is_target) in columns().items():
        peer = best_nanos(partial(array.cast, pa.string()), VALUES)
        ours = best_nanos(partial(ENCODERS.encode_array_to_strings, logical, array), VALUES)
        verdict = "" if not is_target else "ok" if ours <= MAX_RATIO * peer else "MISSED"
        print(f"{name:20} {peer:6.0f} ns {ours:6.0f} ns {ours / peer:6.2f}   {verdict}")
        if verdict == "MISSED":
            missed.append(name)
    return missed


def compare_scalars() -> list[str]:
    print(f"\n{'scalar':20} {'floecat':>9}   target {MAX_SCALAR_MICROS:g} µs")
    rng = np.random.default_rng(4)
    normal = rng.normal(0, 1_000, SCALARS)
    missed = []
    for name, values in {"plain double": normal, "scientific double": normal * 1e-12}.items():
        micros = best_nanos(partial(encode_scalars, values.tolist()), SCALARS) / 1_000
        verdict = "ok" if micros <= MAX_SCALAR_MICROS else "MISSED"
        print(f"{name:20} {micros:6.2f} µs   {verdict}")
        if verdict == "MISSED":
            missed.append(name)
    return missed


def main() -> int:
    missed = compare_arrays() + compare_scalars()
    if missed:
        print(f"\ntargets missed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
