"""Edits of a constraint bundle: pure functions from the present content to the next."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ai.floedb.floecat.catalog.constraints_pb2 import (
    CT_UNSPECIFIED,
    ConstraintDefinition,
    ConstraintType,
    TableConstraints,
)
from floecat.catalog.names import cleaned_name
from floecat.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    LimitExceededError,
    NotFoundError,
)

MAX_CONSTRAINTS: Final = 10_000


def checked(given: TableConstraints) -> TableConstraints:
    """A copy with cleaned names; every constraint has a name of its own and a type."""
    if len(given.constraints) > MAX_CONSTRAINTS:
        raise LimitExceededError(
            f"a bundle has at most {MAX_CONSTRAINTS} constraints, not {len(given.constraints)}",
            field="constraints",
        )
    bundle = copied(given)
    for constraint in bundle.constraints:
        constraint.name = cleaned_name(constraint.name, "constraints.name")
        if constraint.type == CT_UNSPECIFIED or constraint.type not in ConstraintType.values():
            raise InvalidArgumentError(
                f"constraint {constraint.name!r} has no type: say CT_PRIMARY_KEY, CT_UNIQUE, "
                "CT_FOREIGN_KEY, CT_CHECK or CT_NOT_NULL",
                field="constraints.type",
            )
    counted = Counter(constraint.name for constraint in bundle.constraints)
    twice = sorted(name for name, count in counted.items() if count > 1)
    if twice:
        raise InvalidArgumentError(
            f"constraint {twice[0]!r} is given twice: names are unique in a bundle",
            field="constraints.name",
        )
    return bundle


def merged(current: TableConstraints, given: TableConstraints) -> TableConstraints:
    """Constraints of the same name replaced, others kept, new ones added; incoming keys win."""
    incoming = {constraint.name for constraint in given.constraints}
    kept = [constraint for constraint in current.constraints if constraint.name not in incoming]
    bundle = _with(current, [*kept, *given.constraints])
    bundle.properties.update(given.properties)
    return bundle


def appended(current: TableConstraints, given: TableConstraints) -> TableConstraints:
    """Constraints and properties added, none changed. A name that is there refuses them all."""
    present = {constraint.name for constraint in current.constraints}
    taken = [constraint.name for constraint in given.constraints if constraint.name in present]
    if taken:
        raise AlreadyExistsError(
            f"there is a constraint {taken[0]!r} already: merge to replace it",
            reason="CONSTRAINT_EXISTS",
            metadata={"name": taken[0]},
        )
    for key, value in given.properties.items():
        if current.properties.get(key, value) != value:
            raise AlreadyExistsError(
                f"the bundle has a property {key!r} already: merge to replace it",
                reason="PROPERTY_EXISTS",
                metadata={"name": key},
            )
    bundle = _with(current, [*current.constraints, *given.constraints])
    bundle.properties.update(given.properties)
    return bundle


def without(current: TableConstraints, name: str) -> TableConstraints:
    """One constraint removed."""
    kept = [constraint for constraint in current.constraints if constraint.name != name]
    if len(kept) == len(current.constraints):
        raise NotFoundError(
            f"there is no constraint {name!r}",
            reason="CONSTRAINT_NOT_FOUND",
            metadata={"name": name},
        )
    return _with(current, kept)


def copied(bundle: TableConstraints) -> TableConstraints:
    """A copy that can be changed."""
    copy = TableConstraints()
    copy.CopyFrom(bundle)
    return copy


def _with(
    bundle: TableConstraints, constraints: Iterable[ConstraintDefinition]
) -> TableConstraints:
    copy = copied(bundle)
    copy.ClearField("constraints")
    copy.constraints.extend(constraints)
    return copy
