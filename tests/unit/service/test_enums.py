"""Enum values that this version doesn't know, anywhere in a request."""

import pytest
from google.protobuf.message import Message

from ai.floedb.floecat.catalog.constraints_pb2 import (
    ConstraintDefinition,
    PutTableConstraintsRequest,
    TableConstraints,
)
from ai.floedb.floecat.catalog.table_pb2 import (
    TF_DELTA,
    CreateTableRequest,
    TableSpec,
    UpstreamRef,
)
from floecat.errors import InvalidArgumentError
from floecat.service.enums import check_enums


def constraint(**fields: int) -> PutTableConstraintsRequest:
    fine = ConstraintDefinition(name="fine")
    odd = ConstraintDefinition(name="odd", **fields)  # type: ignore[arg-type]
    return PutTableConstraintsRequest(constraints=TableConstraints(constraints=[fine, odd]))


@pytest.mark.parametrize(
    ("request_", "field", "allowed"),
    [
        (CreateTableRequest(spec=TableSpec(format=99)), "spec.format", "TF_DELTA"),  # type: ignore[arg-type]
        (
            CreateTableRequest(spec=TableSpec(upstream=UpstreamRef(state=-1))),  # type: ignore[arg-type]
            "spec.upstream.state",
            "US_GONE",
        ),
        (constraint(update_rule=99), "constraints.constraints.update_rule", "FKR_CASCADE"),
        (constraint(match_option=99), "constraints.constraints.match_option", "FKMO_FULL"),
    ],
)
def test_an_unknown_number_is_refused_with_the_names(
    request_: Message, field: str, allowed: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=allowed) as refusal:
        check_enums(request_)
    assert refusal.value.field == field


def test_known_and_absent_ones_are_fine() -> None:
    check_enums(CreateTableRequest(spec=TableSpec(format=TF_DELTA)))
    check_enums(CreateTableRequest())
    check_enums(constraint(update_rule=3))
