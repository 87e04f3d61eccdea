"""What a record must be to be kept: its value is one of its target, and both are told whole."""

from math import inf
from typing import Final

from google.protobuf.message import Message

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats, TargetStatsRecord
from ai.floedb.floecat.statistics.statistics_pb2 import StatsTarget
from floecat.catalog.codec import MAX_RECORD_BYTES
from floecat.errors import InvalidArgumentError, LimitExceededError
from floecat.statistics.store import SnapshotPlace

_VALUES: Final = {"table": "table", "column": "scalar", "expression": "scalar", "file": "file"}
_COUNTED: Final = ("_count", "_bytes", "_seen", "_total", "_bound", "exact", "estimate")
"""What the fields are called that hold numbers of things."""
MAX_PATH_BYTES: Final = 4096
MAX_ENGINE_KIND: Final = 64


def check_target(target: StatsTarget, field: str = "target") -> None:
    """Refuse a target that names nothing."""
    match target.WhichOneof("target"):
        case None:
            raise InvalidArgumentError(
                f"{field} is missing: name the table, a column, an expression or a file",
                field=field,
            )
        case "column" if target.column.column_id <= 0:
            raise InvalidArgumentError(
                f"{field}.column.column_id is {target.column.column_id}: ids of columns begin at 1",
                field=f"{field}.column.column_id",
            )
        case "expression":
            kind = target.expression.engine_kind
            if not kind or len(kind) > MAX_ENGINE_KIND:
                raise InvalidArgumentError(
                    f"{field}.expression.engine_kind has 1 to {MAX_ENGINE_KIND} characters",
                    field=f"{field}.expression.engine_kind",
                )
        case "file":
            check_path(target.file.file_path, f"{field}.file.file_path")


def check_path(path: str, field: str) -> None:
    """Refuse what can't be a file's path."""
    if not path:
        raise InvalidArgumentError(f"{field} is missing", field=field)
    if len(path.encode()) > MAX_PATH_BYTES:
        raise LimitExceededError(f"a path has at most {MAX_PATH_BYTES} bytes", field=field)


def check_record(place: SnapshotPlace, record: TargetStatsRecord) -> None:
    """Refuse a record of something else than it says, or of another snapshot."""
    check_target(record.target, "records.target")
    sort = str(record.target.WhichOneof("target"))
    value = record.WhichOneof("value")
    if value != _VALUES[sort]:
        raise InvalidArgumentError(
            f"a record of a {sort} carries {_VALUES[sort]}, not {value or 'nothing'}",
            field="records.value",
        )
    if sort == "file" and record.file.identity.file_path != record.target.file.file_path:
        raise InvalidArgumentError(
            f"the record of {record.target.file.file_path} has statistics of "
            f"{record.file.identity.file_path or 'a file without a path'}",
            field="records.file.identity.file_path",
        )
    check_place(place, record)
    check_numbers(getattr(record, value), f"records.{value}")
    if record.ByteSize() > MAX_RECORD_BYTES:
        raise LimitExceededError(
            f"a record has at most {MAX_RECORD_BYTES} bytes: leave sketches out",
            field="records",
        )


def check_place(place: SnapshotPlace, record: TargetStatsRecord) -> None:
    """Refuse a record of another table or snapshot; one that doesn't say is of the stream's."""
    other_table = record.HasField("table_id") and (
        record.table_id.id != place.table_id or record.table_id.account_id != place.account_id
    )
    if other_table or record.snapshot_id not in (0, place.snapshot_id):
        raise InvalidArgumentError(
            "every record of a stream is of the table and snapshot that the stream names",
            field="records.table_id" if other_table else "records.snapshot_id",
        )


def check_numbers(value: Message, field: str) -> None:
    """Refuse counts that nothing can have: below zero, no number at all, or parts above a whole."""
    for told, held in value.ListFields():
        name = f"{field}.{told.name}"
        for one in held if told.is_repeated else (held,):
            if isinstance(one, Message):
                check_numbers(one, name)
            elif _is_counted(told.name, one) and not 0 <= one < inf:
                raise InvalidArgumentError(f"{name} is {one}: nothing is counted so", field=name)
    if isinstance(value, ScalarStats) and value.HasField("value_count"):
        without = value.null_count + value.nan_count
        if without > value.value_count:
            raise InvalidArgumentError(
                f"{field} has {without} values that are NULL or NaN, of {value.value_count} in all",
                field=f"{field}.value_count",
            )


def _is_counted(name: str, value: object) -> bool:
    return name.endswith(_COUNTED) and type(value) in {int, float}
