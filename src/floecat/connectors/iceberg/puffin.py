"""Puffin files: theta sketches of a snapshot's columns, as other engines left them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from ai.floedb.floecat.catalog.stats_pb2 import Ndv, NdvApprox, NdvMethod
from floecat.connectors.iceberg.documents import find, get, objects, texts
from floecat.connectors.iceberg.errors import MALFORMED
from floecat.connectors.iceberg.metadata import StatisticsFile
from floecat.connectors.iceberg.storage import SourceFiles
from floecat.connectors.spi.errors import ConnectorError
from floecat.connectors.spi.ndv import ColumnNdv, NdvSketch
from floecat.errors import DataLossError
from floecat.sketches.theta import ThetaSketch

THETA: Final = "apache-datasketches-theta-v1"
_MAGIC: Final = b"PFA1"
_TAIL_BYTES: Final = 12
_COMPRESSED_FOOTER: Final = 1
_MAX_FOOTER_BYTES: Final = 64 * 1024 * 1024
_MAX_SKETCH_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Blob:
    """One blob of a Puffin file."""

    type: str
    field_ids: tuple[int, ...]
    snapshot_id: int
    offset: int
    length: int
    codec: str
    properties: Mapping[str, str]


def distinct_values(files: SourceFiles, statistics: StatisticsFile) -> dict[int, ColumnNdv]:
    """Numbers of distinct values by field id, with their sketches.

    Statistics are a help: what can't be read of them is left out, and the table stays readable.
    """
    found: dict[int, ColumnNdv] = {}
    try:
        with files.random_access(statistics.path) as file:
            for blob in read_footer(file):
                if _is_theta_of(blob, statistics.snapshot_id):
                    with suppress(DataLossError):  # no sketch, or one of another seed
                        found[blob.field_ids[0]] = _column_ndv(blob, read_blob(file, blob))
    except (*MALFORMED, ConnectorError, OSError, pa.ArrowException):
        return found
    return found


def read_footer(file: pa.NativeFile) -> Iterator[Blob]:
    """What lies where: magic, footer, its length, flags, magic are the end of the file."""
    size = file.size()
    tail = _at(file, size - _TAIL_BYTES, _TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little", signed=True)
    if tail[8:] != _MAGIC or not 0 <= length <= min(_MAX_FOOTER_BYTES, size):
        raise ValueError("it isn't a Puffin file")
    payload = _at(file, size - _TAIL_BYTES - length, length)
    if tail[4] & _COMPRESSED_FOOTER:
        raise ValueError("a Puffin file's footer is compressed")
    for document in objects(json.loads(payload), "blobs"):
        fields: list[Any] = get(document, "fields", list)
        yield Blob(
            type=get(document, "type", str),
            field_ids=tuple(int(field) for field in fields),
            snapshot_id=get(document, "snapshot-id", int),
            offset=get(document, "offset", int),
            length=get(document, "length", int),
            codec=find(document, "compression-codec", str) or "",
            properties=texts(document, "properties"),
        )


def read_blob(file: pa.NativeFile, blob: Blob) -> bytes:
    """A blob's own bytes."""
    if not 0 <= blob.length <= _MAX_SKETCH_BYTES:
        raise ValueError(f"a blob of {blob.length} bytes is too large")
    data = _at(file, blob.offset, blob.length)
    match blob.codec:
        case "":
            return data
        case "zstd":
            with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
                inflated: bytes = stream.read(_MAX_SKETCH_BYTES + 1)
        case codec:
            raise ValueError(f"blobs compressed with {codec[:20]!r} can't be read")
    if len(inflated) > _MAX_SKETCH_BYTES:
        raise ValueError("a blob is too large")
    return inflated


def _is_theta_of(blob: Blob, snapshot_id: int) -> bool:
    return blob.type == THETA and len(blob.field_ids) == 1 and blob.snapshot_id == snapshot_id


def _column_ndv(blob: Blob, sketch: bytes) -> ColumnNdv:
    theta = ThetaSketch.from_bytes(sketch)
    low, high = theta.bounds()
    stated = blob.properties.get("ndv", "")
    # Rounded, it may be less than what an exact sketch has; anything else contradicts the sketch.
    is_likely = stated.isdecimal() and low - 1 <= float(stated) <= high + 1
    estimate = float(stated) if is_likely else theta.estimate
    approx = NdvApprox(
        estimate=estimate, lower_bound=min(low, estimate), upper_bound=max(high, estimate)
    )
    return ColumnNdv(Ndv(approx=approx, method=NdvMethod.NM_PUFFIN), NdvSketch(THETA, sketch))


def _at(file: pa.NativeFile, offset: int, length: int) -> bytes:
    if offset < 0:
        raise ValueError("a Puffin file is too short")
    file.seek(offset)
    data: bytes = file.read(length)
    if len(data) != length:
        raise EOFError("a Puffin file ends in the middle")
    return data
