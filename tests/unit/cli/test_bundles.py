"""Constraints as rows: what a constraint says is shown, and nothing in place of what it doesn't."""

import pytest

from ai.floedb.floecat.catalog.constraints_pb2 import (
    CT_CHECK,
    CT_FOREIGN_KEY,
    ConstraintColumn,
    ConstraintDefinition,
    TableConstraints,
)
from ai.floedb.floecat.common.common_pb2 import NameRef
from floecat.cli.bundles import constraint_rows, count_text

ORDERS = NameRef(catalog="sales", path=["eu"], name="orders")
ID = [ConstraintColumn(column_id=1, name="id")]


def details(constraint: ConstraintDefinition) -> str:
    return constraint_rows(TableConstraints(constraints=[constraint]))[0][-1]


@pytest.mark.parametrize(
    ("constraint", "shown"),
    [
        (
            ConstraintDefinition(
                type=CT_FOREIGN_KEY, referenced_table_name=ORDERS, referenced_columns=ID
            ),
            "→ sales.eu.orders (id)",
        ),
        (
            ConstraintDefinition(type=CT_FOREIGN_KEY, referenced_table_name=ORDERS),
            "→ sales.eu.orders",
        ),
        (ConstraintDefinition(type=CT_FOREIGN_KEY, referenced_columns=ID), "→ (id)"),
        (ConstraintDefinition(type=CT_FOREIGN_KEY), ""),
        (ConstraintDefinition(type=CT_CHECK, check_expression="id > 0"), "id > 0"),
    ],
)
def test_details(constraint: ConstraintDefinition, shown: str) -> None:
    assert details(constraint) == shown


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 constraints"), (1, "1 constraint"), (2, "2 constraints")]
)
def test_counting(count: int, text: str) -> None:
    bundle = TableConstraints(constraints=[ConstraintDefinition()] * count)
    assert count_text(bundle) == text
