"""Trips as a city's taxis report them: skewed, with nulls, NaN, negative fares and odd times."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def make_trips(folder: Path, rows: int, files: int) -> Path:
    """A folder of files."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(2024)
    for number in range(files):
        pq.write_table(_trips(rng, rows), folder / f"{number:03}.parquet", row_group_size=rows // 3)
    return folder


def _trips(rng: np.random.Generator, rows: int) -> pa.Table:
    pickup = rng.integers(1_704_067_200, 1_706_745_600, rows) * 1_000_000
    lasted = (rng.lognormal(6.5, 0.8, rows) * 1_000_000).astype(np.int64)
    unknown = rng.random(rows) < 0.05
    distance = rng.lognormal(0.6, 0.9, rows).round(2)
    distance[rng.random(rows) < 0.001] = np.nan
    fare = (3 + 2.5 * np.nan_to_num(distance)).round(2)
    fare[rng.random(rows) < 0.01] *= -1
    passengers = rng.integers(0, 7, rows).astype(np.float64)
    return pa.table(
        {
            "vendor": pa.array(rng.integers(1, 3, rows), pa.int32()),
            "pickup": pa.array(pickup).cast(pa.timestamp("us")),
            "dropoff": pa.array(pickup + lasted).cast(pa.timestamp("us")),
            "passengers": pa.array(passengers, mask=unknown),
            "distance": distance,
            "rate_code": pa.array(rng.choice([1, 2, 3, 99], rows, p=[0.9, 0.06, 0.03, 0.01])),
            "flag": pa.array(rng.choice(["N", "Y"], rows, p=[0.99, 0.01]), mask=unknown),
            "zone": [f"zone {n}" for n in rng.zipf(1.4, rows) % 263],
            "fare": fare,
            "tip": pa.array((fare * rng.random(rows) * 0.3).astype(np.float32)),
        }
    )
