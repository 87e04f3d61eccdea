"""The error tree: every code is reachable, and the drawing in the docstring is complete."""

import inspect

from floecat import errors
from floecat.errors import ErrorCode, FloecatError


def subclasses(cls: type[FloecatError]) -> set[type[FloecatError]]:
    direct = set(cls.__subclasses__())
    return direct.union(*(subclasses(child) for child in direct))


def test_every_code_has_an_error() -> None:
    assert {cls.code for cls in subclasses(FloecatError)} | {FloecatError.code} == set(ErrorCode)


def test_the_docstring_draws_every_error() -> None:
    drawn = inspect.getdoc(errors) or ""
    declared = {
        cls.__name__ for cls in subclasses(FloecatError) if cls.__module__ == errors.__name__
    }
    assert declared
    assert {name for name in declared if f"─ {name} " not in drawn} == set()


def test_a_reason_and_metadata_travel_with_the_error() -> None:
    error = errors.NotFoundError(
        "no table sales.orders", reason="TABLE_NOT_FOUND", metadata={"name": "orders"}
    )
    assert (error.reason, error.metadata, str(error)) == (
        "TABLE_NOT_FOUND",
        {"name": "orders"},
        "no table sales.orders",
    )


def test_a_conflict_names_its_key() -> None:
    error = errors.ConflictError("name/a", "orders", "absent")
    assert "orders" in str(error)
    assert error.metadata["partition"] == "name/a"
