"""Constraints that a table declares: CHECKs, invariants, NOT NULL."""

import re
from collections.abc import Iterator
from typing import Final

from ai.floedb.floecat.catalog.constraints_pb2 import (
    ConstraintColumn,
    ConstraintDefinition,
    ConstraintEnforcement,
    ConstraintType,
)
from floecat.connectors.delta.log.actions import Metadata
from floecat.connectors.delta.schema import DeltaSchema, Field

_PREFIX: Final = "delta.constraints."
_WORD: Final = re.compile(r"'(?:[^'\\]|\\.|'')*'|`((?:[^`]|``)+)`|([A-Za-z_]\w*)")
"""Literals are passed over; names are quoted or bare."""


def constraints(metadata: Metadata, schema: DeltaSchema) -> tuple[ConstraintDefinition, ...]:
    """Every constraint, in a stable order."""
    return (*_checks(metadata, schema), *_invariants(schema), *_not_null(schema))


def _checks(metadata: Metadata, schema: DeltaSchema) -> Iterator[ConstraintDefinition]:
    for key in sorted(metadata.configuration):
        if key.startswith(_PREFIX):
            expression = metadata.configuration[key]
            yield _check(key.removeprefix(_PREFIX), expression, schema)


def _invariants(schema: DeltaSchema) -> Iterator[ConstraintDefinition]:
    for field in schema.fields:
        if field.invariant:
            yield _check(f"invariant_{'.'.join(field.path)}", field.invariant, schema)


def _not_null(schema: DeltaSchema) -> Iterator[ConstraintDefinition]:
    for field in schema.fields:
        if not field.nullable:
            yield ConstraintDefinition(
                name=f"not_null_{'.'.join(field.path)}",
                type=ConstraintType.CT_NOT_NULL,
                columns=[_column(field)],
                enforcement=ConstraintEnforcement.CE_ENFORCED,
            )


def _check(name: str, expression: str, schema: DeltaSchema) -> ConstraintDefinition:
    return ConstraintDefinition(
        name=name,
        type=ConstraintType.CT_CHECK,
        columns=[_column(field) for field in _mentioned(expression, schema)],
        enforcement=ConstraintEnforcement.CE_ENFORCED,
        check_expression=expression,
        check_dialect="spark",
    )


def _mentioned(expression: str, schema: DeltaSchema) -> list[Field]:
    """Top-level columns whose names occur: rather one too many than one too few."""
    words = {
        (quoted.replace("``", "`") if quoted else bare).lower()
        for quoted, bare in _WORD.findall(expression)
        if quoted or bare
    }
    return [f for f in schema.fields if len(f.path) == 1 and f.path[0].lower() in words]


def _column(field: Field) -> ConstraintColumn:
    return ConstraintColumn(column_id=field.field_id or 0, name=".".join(field.path))
