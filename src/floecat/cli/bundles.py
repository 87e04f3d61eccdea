"""Constraint bundles as files and as rows."""

from typing import Any

from ai.floedb.floecat.catalog.constraints_pb2 import (
    CT_CHECK,
    CT_FOREIGN_KEY,
    ConstraintDefinition,
    ConstraintType,
    TableConstraints,
)
from floecat.cli.descriptions import enum_word
from floecat.cli.inputs import parsed, read_json
from floecat.client.names import format_name, parts_of


def read_bundle(source: str) -> TableConstraints:
    """A bundle from JSON: a list of constraints, a bundle, or what `get --json` printed."""
    content: Any = read_json(source)
    if isinstance(content, list):
        content = {"constraints": content}
    elif isinstance(content, dict) and isinstance(content.get("constraints"), dict):
        content = content["constraints"]
    return parsed(content, TableConstraints, "the constraints")


def count_text(bundle: TableConstraints) -> str:
    """How many constraints there are, in words."""
    count = len(bundle.constraints)
    return "1 constraint" if count == 1 else f"{count} constraints"


def constraint_rows(bundle: TableConstraints) -> list[list[str]]:
    """Name, type, columns, and what only its type has."""
    return [
        [
            constraint.name,
            enum_word(ConstraintType.Name(constraint.type)),
            ", ".join(column.name for column in constraint.columns),
            _details(constraint),
        ]
        for constraint in bundle.constraints
    ]


def _details(constraint: ConstraintDefinition) -> str:
    if constraint.type == CT_CHECK:
        return constraint.check_expression
    if constraint.type != CT_FOREIGN_KEY:
        return ""
    return _target(constraint)


def _target(constraint: ConstraintDefinition) -> str:
    """What a foreign key refers to, as far as it says so."""
    parts = parts_of(constraint.referenced_table_name)
    table = format_name(parts) if parts[0] else constraint.referenced_table_id.id
    columns = ", ".join(column.name for column in constraint.referenced_columns)
    said = " ".join(filter(None, [table, columns and f"({columns})"]))
    return f"→ {said}" if said else ""
