"""What a log says, action by action, as far as it matters here."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias

from floecat.connectors.spi.errors import BrokenTableError

Json: TypeAlias = Mapping[str, Any]

KNOWN_FEATURES: Final = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantType",
        "variantType-preview",
        "variantShredding-preview",
    }
)
"""What a reader of metadata has to know about, and this one does."""
_MAX_READER: Final = 3

UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading something of another form raises."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """Which readers may read the table."""

    min_reader: int
    min_writer: int
    reader_features: frozenset[str] = frozenset()
    writer_features: frozenset[str] = frozenset()
    raw: Json = field(default_factory=dict, compare=False)

    @property
    def has_deletion_vectors(self) -> bool:
        return "deletionVectors" in self.reader_features

    def require_readable(self, table: str) -> None:
        """Refuse what was written for readers that know more."""
        unknown = sorted(self.reader_features - KNOWN_FEATURES)
        if self.min_reader > _MAX_READER or unknown:
            needs = ", ".join(unknown) or f"reader version {self.min_reader}"
            raise BrokenTableError(f"{table} needs {needs}, which Floecat doesn't know yet")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the table is, since some version."""

    table_id: str
    schema_json: str
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str]
    name: str = ""
    description: str = ""
    created_ms: int | None = None
    raw: Json = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class DeletionVector:
    """Rows of one file that are deleted."""

    storage: str
    """`u`: beside the table's files, `p`: at an absolute path, `i`: right here."""
    path_or_data: str
    size: int
    cardinality: int
    offset: int | None = None

    @property
    def unique_id(self) -> str:
        at = "" if self.offset is None else f"@{self.offset}"
        return f"{self.storage}{self.path_or_data}{at}"


@dataclass(frozen=True, slots=True)
class Add:
    """A file that belongs to the table."""

    path: str
    size: int
    modified_ms: int
    partition_values: Mapping[str, str | None]
    stats: Json | None
    vector: DeletionVector | None = None
    base_row_id: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same file, in the log's sense."""
        return self.path, self.vector.unique_id if self.vector else ""


@dataclass(frozen=True, slots=True)
class Remove:
    """A file that doesn't belong to it any more."""

    path: str
    vector: DeletionVector | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.path, self.vector.unique_id if self.vector else ""


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """What the writer says about a commit."""

    raw: Json

    @property
    def in_commit_ms(self) -> int | None:
        value = self.raw.get("inCommitTimestamp")
        return value if isinstance(value, int) else None


Action: TypeAlias = Protocol | Metadata | Add | Remove | CommitInfo


def read_commit(content: bytes, place: str) -> Iterator[Action]:
    """The actions of a commit's file."""
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield from read_action(json.loads(line))
        except UNREADABLE as error:
            raise BrokenTableError(f"line {number} of {place} can't be read") from error


def read_action(action: Json) -> Iterator[Action]:
    """The action of one line or row; others than these don't matter."""
    if (add := action.get("add")) is not None:
        yield read_add(add)
    elif (remove := action.get("remove")) is not None:
        yield Remove(_string(remove["path"]), _vector(remove.get("deletionVector")))
    elif (metadata := action.get("metaData")) is not None:
        yield _metadata(metadata)
    elif (protocol := action.get("protocol")) is not None:
        yield _protocol(protocol)
    elif (info := action.get("commitInfo")) is not None:
        yield CommitInfo(info)


def read_add(add: Json) -> Add:
    """An add action, of a commit or of a checkpoint."""
    return Add(
        path=_string(add["path"]),
        size=_number(add["size"]) or 0,
        modified_ms=_number(add["modificationTime"]) or 0,
        partition_values=_strings(add.get("partitionValues") or {}),
        stats=_stats(add),
        vector=_vector(add.get("deletionVector")),
        base_row_id=_number(add.get("baseRowId")),
    )


def _stats(add: Json) -> Json | None:
    """Statistics: as JSON text, or in columns of their own."""
    text = add.get("stats")
    if text:
        parsed = json.loads(text, parse_float=Decimal)
        return parsed if isinstance(parsed, dict) else None
    return add.get("stats_parsed")


def _vector(given: Json | None) -> DeletionVector | None:
    if given is None:
        return None
    return DeletionVector(
        storage=_string(given["storageType"]),
        path_or_data=_string(given["pathOrInlineDv"]),
        size=_number(given["sizeInBytes"]) or 0,
        cardinality=_number(given["cardinality"]) or 0,
        offset=_number(given.get("offset")),
    )


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _number(value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise TypeError("not a number of 64 bits")
    return value


def _strings(values: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: None if value is None else _string(value) for name, value in values.items()}


def _metadata(given: Json) -> Metadata:
    return Metadata(
        table_id=_string(given["id"]),
        schema_json=_string(given["schemaString"]),
        partition_columns=tuple(_string(c) for c in given.get("partitionColumns") or ()),
        configuration={k: str(v) for k, v in (given.get("configuration") or {}).items()},
        name=str(given.get("name") or ""),
        description=str(given.get("description") or ""),
        created_ms=_number(given.get("createdTime")),
        raw=given,
    )


def _protocol(given: Json) -> Protocol:
    reader = given.get("readerFeatures") or ()
    min_reader = int(given["minReaderVersion"])
    implied = {"columnMapping"} if min_reader == 2 else set()  # version 2 is that feature
    return Protocol(
        min_reader=min_reader,
        min_writer=int(given["minWriterVersion"]),
        reader_features=frozenset(reader) | implied,
        writer_features=frozenset(given.get("writerFeatures") or ()),
        raw=given,
    )
