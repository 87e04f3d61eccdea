"""Deletes find the files of their partition, whatever its values are."""

import math
import struct
from collections.abc import Mapping
from typing import Any

import pytest

from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from floecat.connectors.iceberg.deletes import DeleteIndex
from floecat.connectors.iceberg.equality import EqualityMatcher
from floecat.connectors.iceberg.metadata import PartitionField, PartitionSpec
from floecat.connectors.iceberg.partitions import PartitionReader

DOUBLE = 1
SPEC = PartitionSpec(
    spec_id=0,
    fields=(PartitionField(field_id=1000, source_id=DOUBLE, name="p", transform="identity"),),
)
READER = PartitionReader(SPEC, {DOUBLE: "double"})


def stored(value: float) -> float:
    """A value as a manifest gives it: an object of its own each time."""
    found: float = struct.unpack("<d", struct.pack("<d", value))[0]
    return found


def key_of(value: float) -> Any:
    return READER.key({"p": stored(value)}, {1000: "p"})


@pytest.mark.parametrize("content", [1, 2])
@pytest.mark.parametrize(
    ("of_delete", "of_data", "applies"),
    [
        (math.nan, math.nan, True),
        (math.nan, -math.nan, True),
        (-0.0, -0.0, True),
        (-0.0, 0.0, False),
        (1.5, 1.5, True),
        (1.5, math.nan, False),
    ],
)
def test_partitions_are_compared_as_iceberg_compares_them(
    content: int, of_delete: float, of_data: float, *, applies: bool
) -> None:
    index = DeleteIndex(EqualityMatcher({}))
    delete = ScanFile(file_path="d", sequence_number=2, file_format="parquet")
    index.add(delete, {"content": content}, key_of(of_delete), is_unpartitioned=False)
    data = ScanFile(file_path="a", sequence_number=1)
    assert bool(index.applying_to(data, {}, key_of(of_data))) == applies


def test_partition_values_are_canonical() -> None:
    texts = [READER.values(key_of(value))[0].value for value in (0.0, -0.0, math.nan, 0.1)]
    assert texts == ["0.0", "0.0", "NaN", "0.1"]


@pytest.mark.parametrize(
    ("nans_of_delete", "nans_of_data", "applies"),
    [({DOUBLE: 1}, {DOUBLE: 1}, True), (None, {DOUBLE: 1}, True), ({DOUBLE: 0}, None, False)],
)
def test_nan_lies_beyond_the_bounds(
    nans_of_delete: Mapping[int, int] | None,
    nans_of_data: Mapping[int, int] | None,
    *,
    applies: bool,
) -> None:
    schema = {"fields": [{"id": DOUBLE, "name": "v", "type": "double", "required": False}]}
    index = DeleteIndex(EqualityMatcher({0: schema}))
    delete = ScanFile(file_path="d", sequence_number=2, file_format="parquet")
    deletes = {"content": 2, "equality_ids": [DOUBLE], **metrics(1.0, nans_of_delete)}
    index.add(delete, deletes, (), is_unpartitioned=True)
    data = ScanFile(file_path="a", sequence_number=1)
    assert bool(index.applying_to(data, metrics(5.0, nans_of_data), ())) == applies


def metrics(value: float, nans: Mapping[int, int] | None) -> dict[str, Any]:
    bound = {DOUBLE: struct.pack("<d", value)}
    return {
        "value_counts": {DOUBLE: 2},
        "null_value_counts": {DOUBLE: 0},
        "nan_value_counts": nans,
        "lower_bounds": bound,
        "upper_bounds": bound,
    }
