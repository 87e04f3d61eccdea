"""Manifest lists and manifests: which files a snapshot has, streamed block by block.

Fields are found by their ids, as the specification wants it, whatever their names are.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from floecat.connectors.iceberg.avro import AvroFile
from floecat.connectors.iceberg.decoding import Schema, Wanted
from floecat.connectors.iceberg.metadata import Snapshot
from floecat.connectors.iceberg.storage import SourceFiles

DATA: Final = 0
DELETES: Final = 1
_DELETED: Final = 2

Entry = dict[str, Any]

_MANIFESTS: Final = {
    500: Wanted("manifest_path"),
    502: Wanted("partition_spec_id"),
    517: Wanted("content"),
    515: Wanted("sequence_number"),
    520: Wanted("first_row_id"),
}
_FILES: Final = {
    134: Wanted("content"),
    100: Wanted("file_path"),
    101: Wanted("file_format"),
    102: Wanted("partition"),
    103: Wanted("record_count"),
    104: Wanted("file_size_in_bytes"),
    132: Wanted("split_offsets"),
    142: Wanted("first_row_id"),
}
_DELETE_FILES: Final = {
    135: Wanted("equality_ids"),
    143: Wanted("referenced_data_file"),
    144: Wanted("content_offset"),
    145: Wanted("content_size_in_bytes"),
    125: Wanted("lower_bounds"),
    128: Wanted("upper_bounds"),
}
_METRICS: Final = {
    109: Wanted("value_counts"),
    110: Wanted("null_value_counts"),
    137: Wanted("nan_value_counts"),
    125: Wanted("lower_bounds"),
    128: Wanted("upper_bounds"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A manifest as its list has it: what its entries inherit."""

    path: str
    spec_id: int
    content: int
    sequence_number: int
    first_row_id: int | None


def list_manifests(files: SourceFiles, snapshot: Snapshot) -> list[Manifest]:
    """The manifests of a snapshot, in the order they are listed."""
    if not snapshot.manifest_list:
        return [_from_header(files, path) for path in snapshot.manifests]
    with files.stream(snapshot.manifest_list) as stream:
        return [_manifest(record) for record in AvroFile(stream).records(_MANIFESTS)]


@dataclass(frozen=True, slots=True)
class OpenManifest:
    """A manifest that is being read."""

    partition_names: Mapping[int, str]
    """What its partition fields are called in its entries, by field id."""
    entries: Iterator[Entry]
    """The files it adds or keeps, with inherited numbers filled in."""


@contextmanager
def open_manifest(
    files: SourceFiles, manifest: Manifest, *, metrics: bool = False
) -> Iterator[OpenManifest]:
    """Reads a manifest's files as they are asked for; their metrics only if those are wanted."""
    wanted = _FILES | (_DELETE_FILES if manifest.content == DELETES else {})
    with files.stream(manifest.path) as stream:
        avro = AvroFile(stream)
        entries = avro.records(_entry(wanted | _METRICS if metrics else wanted))
        yield OpenManifest(_partition_names(avro.schema), _live(entries, manifest))


def _live(entries: Iterator[Entry], manifest: Manifest) -> Iterator[Entry]:
    next_row_id = manifest.first_row_id
    for entry in entries:
        if entry["status"] == _DELETED:
            continue
        _inherit(entry, manifest.sequence_number)
        file = entry["data_file"]
        if next_row_id is not None and file.get("first_row_id") is None:
            file["first_row_id"] = next_row_id
            next_row_id += file["record_count"]
        yield entry


def _inherit(entry: Entry, sequence_number: int) -> None:
    """What was written before its commit had a number has the manifest's."""
    if entry.get("sequence_number") is None:
        entry["sequence_number"] = sequence_number
    if entry.get("file_sequence_number") is None:
        entry["file_sequence_number"] = sequence_number


def _manifest(record: Mapping[str, Any]) -> Manifest:
    return Manifest(
        path=record["manifest_path"],
        spec_id=record["partition_spec_id"],
        content=record.get("content") or DATA,
        sequence_number=record.get("sequence_number") or 0,
        first_row_id=record.get("first_row_id"),
    )


def _from_header(files: SourceFiles, path: str) -> Manifest:
    """Version 1 without a manifest list: the manifest itself says how it is partitioned."""
    with files.stream(path) as stream:
        spec_id = int(AvroFile(stream).metadata.get("partition-spec-id", b"0"))
    return Manifest(path=path, spec_id=spec_id, content=DATA, sequence_number=0, first_row_id=None)


def _partition_names(schema: Schema) -> dict[int, str]:
    file = _record(_field(schema, 2, "data_file")["type"])
    partition = _record(_field(file, 102, "partition")["type"])
    return {field["field-id"]: field["name"] for field in partition["fields"]}


def _entry(files: Mapping[int, Wanted]) -> dict[int, Wanted]:
    return {
        0: Wanted("status"),
        3: Wanted("sequence_number"),
        4: Wanted("file_sequence_number"),
        2: Wanted("data_file", files),
    }


def _field(record: Schema, field_id: int, name: str) -> dict[str, Any]:
    for field in record["fields"]:
        if field.get("field-id", field_id if field["name"] == name else None) == field_id:
            return dict(field)
    raise ValueError(f"a manifest has no field {name!r}")


def _record(kind: Any) -> Schema:
    """The record of a type that may be optional."""
    options = kind if isinstance(kind, list) else [kind]
    for option in options:
        if isinstance(option, dict) and option.get("type") == "record":
            return option
    raise ValueError("a manifest's field isn't a record")
