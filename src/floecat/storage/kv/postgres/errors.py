"""PostgreSQL's failures in Floecat's words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors as pg

from floecat.errors import (
    FloecatError,
    InvalidArgumentError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
)


@contextmanager
def translated() -> Iterator[None]:
    """Turn what PostgreSQL raises inside into one of our errors; leave bugs as they are."""
    try:
        yield
    except psycopg.Error as error:
        ours = translate(error)
        if ours is None:
            raise
        raise ours from error


def translate(error: psycopg.Error) -> FloecatError | None:
    """Our error for an error of PostgreSQL's; None for what only a bug can cause."""
    match error:
        case pg.DiskFull():
            return ResourceExhaustedError(f"PostgreSQL has no space left: {error}")
        case (
            pg.InsufficientPrivilege()
            | pg.InvalidPassword()
            | pg.InvalidAuthorizationSpecification()
        ):
            return PermissionDeniedError(f"PostgreSQL doesn't let us in: {error}")
        case psycopg.ProgrammingError() if error.sqlstate is None:
            return InvalidArgumentError(f"the PostgreSQL connection string is malformed: {error}")
        case pg.ReadOnlySqlTransaction():
            return UnavailableError(f"PostgreSQL takes no writes now: {error}")
        case psycopg.OperationalError() | psycopg.InterfaceError():
            # connections lost or refused, shutdowns, timeouts, and a pool that ran dry
            return UnavailableError(f"PostgreSQL doesn't answer: {error}")
        case _:
            return None


def is_lost(error: psycopg.Error, connection: psycopg.Connection[Any]) -> bool:
    """Whether the connection went (57P01 and its like say so), or the server just said no."""
    return connection.broken or (error.sqlstate or "").startswith(("08", "57P"))
