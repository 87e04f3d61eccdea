"""StatsTargetIdentity: what makes two targets of statistics the same, and how they are ordered."""

import hashlib
from typing import Final, TypeAlias

from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_EXPRESSION,
    STK_FILE,
    STK_TABLE,
    StatsTarget,
    StatsTargetKind,
)
from floecat.errors import InvalidArgumentError

TargetKind: TypeAlias = StatsTargetKind.ValueType

MAX_PATH_BYTES: Final = 900
"""Of a path that is its own sort key: what is longer is cut, and told apart by its hash."""

_KINDS: Final[dict[str, TargetKind]] = {
    "table": STK_TABLE,
    "column": STK_COLUMN,
    "expression": STK_EXPRESSION,
    "file": STK_FILE,
}
_PREFIXES: Final = {
    STK_TABLE: "table",
    STK_COLUMN: "column/",
    STK_EXPRESSION: "expression/",
    STK_FILE: "file/",
}


class StatsTargetIdentity:
    """Pure functions of a target: equal targets have equal storage ids, others have others.

        column/{id, ten digits}    expression/{engine kind}/{hash of the key}
        file/{path}                table

    Storage ids are ordered by their UTF-8 bytes: columns by number, files by path.
    """

    @staticmethod
    def storage_id(target: StatsTarget) -> str:
        """The target as a key."""
        match target.WhichOneof("target"):
            case "table":
                return "table"
            case "column":
                return f"column/{target.column.column_id:010}"
            case "expression":
                digest = hashlib.sha256(target.expression.engine_expression_key).hexdigest()
                return f"expression/{target.expression.engine_kind}/{digest}"
            case "file":
                return "file/" + path_key(target.file.file_path)
            case _:
                raise InvalidArgumentError(
                    "the target is missing: name the table, a column, an expression or a file",
                    field="target",
                )

    @staticmethod
    def kind(target: StatsTarget) -> TargetKind:
        """What sort of target it is."""
        return _KINDS[StatsTargetIdentity.storage_id(target).partition("/")[0]]

    @staticmethod
    def prefix(kind: TargetKind) -> str:
        """What the storage ids of a kind begin with."""
        return _PREFIXES[kind]


def path_key(path: str) -> str:
    """What files are ordered by: the path, or its beginning and a hash if it is long."""
    encoded = path.encode()
    if len(encoded) <= MAX_PATH_BYTES:
        return path
    cut = encoded[:MAX_PATH_BYTES].decode(errors="ignore")
    return f"{cut}~{hashlib.sha256(encoded).hexdigest()}"
