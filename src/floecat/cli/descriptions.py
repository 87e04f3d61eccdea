"""What is shown of any resource: its identity, its times, its properties, its columns."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.table_pb2 import Table, UpstreamRef, UpstreamState
from ai.floedb.floecat.common.common_pb2 import MutationMeta, ResourceId
from floecat.cli.times import ago, full
from floecat.clock import utc_now

_COLUMNS_SHOWN: Final = 200
_BLANKS: Final = re.compile(r"[ \t\r\n]+")


def lately(time: Timestamp) -> str:
    """How long ago, for lists."""
    return ago(time, utc_now())


def in_full(time: Timestamp) -> str:
    """A time to the second."""
    return full(time, utc_now())


def identity_fields(name: str, resource_id: ResourceId) -> dict[str, str]:
    """What a block about a resource begins with."""
    return {"name": name, "id": resource_id.id}


def meta_fields(meta: MutationMeta) -> dict[str, str]:
    """What a block about a resource says of its record."""
    return {
        "created": in_full(meta.created_at),
        "updated": in_full(meta.updated_at) if meta.version > 1 else "",
        "version": str(meta.version),
        "etag": meta.etag,
    }


def pair_lines(values: Mapping[str, str]) -> list[str]:
    """Properties or a summary, a line each, by key."""
    return [f"{key} = {values[key]}" for key in sorted(values)]


def enum_word(name: str) -> str:
    """An enum value as people say it: `TF_ICEBERG` is iceberg; unspecified is nothing."""
    word = name.partition("_")[2].lower().replace("_", " ")
    return "" if word == "unspecified" else word


def one_line(message: str) -> str:
    """A message on one line: upstreams and files write into some what they like."""
    return _BLANKS.sub(" ", message).strip(" ")


def failure_text(message: str, about: str) -> str:
    """Why something failed, without the name that is said beside it anyway."""
    return one_line(message).removeprefix(f"{about}: ")


def column_lines(schema_json: str) -> list[str]:
    """The columns of a schema, where it has the form that Iceberg and Delta share."""
    try:
        fields = json.loads(schema_json)["fields"] if schema_json else []
        lines = [_column(field) for field in fields[:_COLUMNS_SHOWN]]
    except (ValueError, KeyError, TypeError, AttributeError):
        return [f"{len(schema_json)} characters of JSON: --json shows them"]
    left_out = len(fields) - len(lines)
    return [*lines, *([f"… and {left_out} more: --json shows them"] if left_out else [])]


def _column(field: Mapping[str, Any]) -> str:
    optional = field["nullable"] if "nullable" in field else not field.get("required", False)
    return f"{field['name']} {_type(field['type'])}{'' if optional else ' not null'}"


def _type(kind: Any) -> str:
    """A nested type, as short as it can be said."""
    if not isinstance(kind, Mapping):
        return str(kind)
    match kind.get("type"):
        case "struct":
            inside = [f"{field['name']} {_type(field['type'])}" for field in kind["fields"]]
            return f"struct<{', '.join(inside)}>"
        case "list" | "array":
            return f"list<{_type(kind.get('element', kind.get('elementType')))}>"
        case "map":
            key = _type(kind.get("key", kind.get("keyType")))
            return f"map<{key}, {_type(kind.get('value', kind.get('valueType')))}>"
        case other:
            return str(other)


def partition_text(table: Table) -> str:
    """How new files are partitioned: each field's transform, and its name."""
    for spec in table.partition_specs:
        if spec.spec_id == table.default_partition_spec_id:
            return ", ".join(f"{field.name} ({field.transform})" for field in spec.fields)
    return ""


def upstream_fields(upstream: UpstreamRef, connector: str) -> dict[str, str]:
    """Where a mirrored relation comes from, and through which connector."""
    name = ".".join([*upstream.namespace_path, upstream.table_display_name])
    return {
        "upstream": f"{name} at {upstream.uri}" if upstream.uri else name,
        "connector": connector,
        "upstream state": enum_word(UpstreamState.Name(upstream.state)),
    }
