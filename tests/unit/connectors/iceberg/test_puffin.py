"""Puffin files of other engines: their numbers with bounds, and nothing of what can't be read."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.captures import access_to

from ai.floedb.floecat.catalog.stats_pb2 import NM_PUFFIN
from floecat.connectors.iceberg.metadata import StatisticsFile
from floecat.connectors.iceberg.puffin import THETA, distinct_values
from floecat.connectors.iceberg.storage import SourceFiles
from floecat.connectors.spi.ndv import ColumnNdv
from floecat.sketches.hashing import hash_integers
from floecat.sketches.theta import ThetaSketch

MAGIC = b"PFA1"
MANY = ThetaSketch.of(hash_integers(np.arange(100_000, dtype=np.int64), 8))


def read(folder: Path, *blobs: tuple[int, bytes, dict[str, str]]) -> dict[int, ColumnNdv]:
    """A file with these blobs: field, bytes, properties."""
    content, listed = MAGIC, list[dict[str, Any]]()
    for field, data, properties in blobs:
        listed.append(
            {
                "type": THETA,
                "fields": [field],
                "snapshot-id": 7,
                "sequence-number": 1,
                "offset": len(content),
                "length": len(data),
                "properties": properties,
            }
        )
        content += data
    footer = json.dumps({"blobs": listed}).encode()
    tail = len(footer).to_bytes(4, "little") + bytes(4)
    path = folder / "file.stats"
    path.write_bytes(content + MAGIC + footer + tail + MAGIC)
    statistics = StatisticsFile(snapshot_id=7, path=str(path), document={})
    return distinct_values(SourceFiles(access_to(folder)), statistics)


def test_an_estimate_lies_between_its_bounds(tmp_path: Path) -> None:
    stated = str(round(MANY.estimate))
    found = read(tmp_path, (1, MANY.to_bytes(), {"ndv": stated}), (2, MANY.to_bytes(), {}))
    assert found[1].ndv.approx.estimate == float(stated)
    assert found[2].ndv.approx.estimate == MANY.estimate
    for column in found.values():
        approx = column.ndv.approx
        assert column.ndv.method == NM_PUFFIN
        assert approx.lower_bound < approx.estimate < approx.upper_bound
        assert (approx.lower_bound, approx.upper_bound) == pytest.approx(MANY.bounds())


@pytest.mark.parametrize("stated", ["5", "0", "9" * 400, "-1", "many"])
def test_a_number_that_its_sketch_contradicts_is_not_believed(tmp_path: Path, stated: str) -> None:
    approx = read(tmp_path, (1, MANY.to_bytes(), {"ndv": stated}))[1].ndv.approx
    assert approx.estimate == MANY.estimate
    assert (approx.lower_bound, approx.upper_bound) == pytest.approx(MANY.bounds())


def test_a_file_that_cant_be_opened_is_left_out(tmp_path: Path) -> None:
    nobody = "s3://bucket/file.stats"
    for path in (str(tmp_path), str(tmp_path / "gone"), nobody):
        access = replace(access_to(tmp_path), endpoint="http://127.0.0.1:9", region="us-east-1")
        statistics = StatisticsFile(snapshot_id=7, path=path, document={})
        assert distinct_values(SourceFiles(access), statistics) == {}


def test_sketches_that_cant_be_read_are_left_out(tmp_path: Path) -> None:
    good = MANY.to_bytes()
    other_seed = good[:6] + b"\x00\x01" + good[8:]
    blobs = [(n, data, {"ndv": "9"}) for n, data in enumerate([good[:20], b"", other_seed, good])]
    assert set(read(tmp_path, *blobs)) == {3}
