"""Checkpoints, streamed: classic ones, in parts, and version 2 with sidecars."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from floecat.connectors.delta.log.actions import (
    UNREADABLE,
    Action,
    Add,
    Json,
    Metadata,
    Protocol,
    read_action,
    read_add,
)
from floecat.connectors.delta.log.listing import LOG, Checkpoint
from floecat.connectors.delta.log.storage import TableFiles
from floecat.connectors.spi.errors import BrokenTableError

SIDECARS: Final = f"{LOG}/_sidecars"
_BATCH: Final = 4096
_ADD: Final = ("path", "size", "modificationTime", "partitionValues", "deletionVector", "baseRowId")
_STATISTICS: Final = ("stats", "stats_parsed")


def read_header(files: TableFiles, checkpoint: Checkpoint) -> tuple[Protocol, Metadata]:
    """Protocol and metadata of a checkpoint, without its files."""
    found: dict[type, Action] = {}
    for path in checkpoint.files:
        for action in _actions(files, path, ("protocol", "metaData")):
            found[type(action)] = action
    protocol, metadata = found.get(Protocol), found.get(Metadata)
    if not isinstance(protocol, Protocol) or not isinstance(metadata, Metadata):
        raise BrokenTableError(f"the checkpoint {checkpoint.files[0]} has no protocol or metadata")
    return protocol, metadata


def read_adds(
    files: TableFiles, checkpoint: Checkpoint, *, with_statistics: bool = True
) -> Iterator[Add]:
    """The files of a checkpoint, a batch in memory at a time."""
    for path in checkpoint.files:
        yield from _adds_in(files, path, with_statistics=with_statistics)
        for sidecar in _sidecars(files, path):
            yield from _adds_in(files, sidecar, with_statistics=with_statistics)


def _adds_in(files: TableFiles, path: str, *, with_statistics: bool) -> Iterator[Add]:
    if path.endswith(".json"):
        yield from (a for a in _json_actions(files, path) if isinstance(a, Add))
        return
    wanted = _ADD + (_STATISTICS if with_statistics else ())
    for row in _rows(files, path, {"add": wanted}):
        try:
            yield read_add(row["add"])
        except UNREADABLE as error:
            raise BrokenTableError(f"a file listed in {path} can't be read") from error


def _sidecars(files: TableFiles, path: str) -> list[str]:
    if path.endswith(".json"):
        named = [row["sidecar"]["path"] for row in _json_rows(files, path) if "sidecar" in row]
    else:
        named = [row["sidecar"]["path"] for row in _rows(files, path, {"sidecar": ("path",)})]
    # Sidecars are named by their file alone; anything else would lead out of their folder.
    return [f"{SIDECARS}/{name.rpartition('/')[2]}" for name in named]


def _actions(files: TableFiles, path: str, kinds: tuple[str, ...]) -> Iterator[Action]:
    if path.endswith(".json"):
        yield from _json_actions(files, path)
        return
    for row in _rows(files, path, dict.fromkeys(kinds)):
        try:
            yield from read_action(row)
        except UNREADABLE as error:
            raise BrokenTableError(f"{path} can't be read") from error


def _json_actions(files: TableFiles, path: str) -> Iterator[Action]:
    for row in _json_rows(files, path):
        try:
            yield from read_action(row)
        except UNREADABLE as error:
            raise BrokenTableError(f"{path} can't be read") from error


def _json_rows(files: TableFiles, path: str) -> Iterator[Json]:
    for line in files.read(path).splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BrokenTableError(f"{path} can't be read") from error
        if isinstance(row, dict):
            yield row


def _rows(
    files: TableFiles, path: str, wanted: Mapping[str, tuple[str, ...] | None]
) -> Iterator[dict[str, Any]]:
    """Actions of the wanted kinds, with the wanted fields (None: all) that there are."""
    with files.parquet(path) as opened:
        columns = [name for kind in wanted for name in _columns(opened, kind, wanted[kind])]
        if not columns:
            return
        try:
            for batch in opened.iter_batches(batch_size=_BATCH, columns=columns):
                for kind in batch.schema.names:
                    for row in _listed(batch.column(kind).drop_null()):
                        yield {kind: row}
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            raise BrokenTableError(f"{path} can't be read") from error


def _listed(actions: pa.StructArray) -> list[dict[str, Any]]:
    """Actions as objects. Statistics that Python has no values for are left out, the file isn't."""
    try:
        return list(actions.to_pylist(maps_as_pydicts="lossy"))
    except (ValueError, OverflowError):
        kept = [field for field in actions.type if field.name != "stats_parsed"]
        parts = [actions.field(field.name) for field in kept]
        rest = pa.StructArray.from_arrays(parts, fields=kept)
        return list(rest.to_pylist(maps_as_pydicts="lossy"))


def _columns(opened: pq.ParquetFile, kind: str, fields: tuple[str, ...] | None) -> list[str]:
    schema = opened.schema_arrow
    if kind not in schema.names:
        return []
    if fields is None:
        return [kind]
    present = {field.name for field in schema.field(kind).type}
    return [f"{kind}.{field}" for field in fields if field in present]
