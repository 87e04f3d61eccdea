"""S3's failures in Floecat's words."""

from collections.abc import Iterator
from contextlib import contextmanager

from obstore import exceptions as s3

from floecat.errors import (
    FailedPreconditionError,
    NotFoundError,
    PermissionDeniedError,
    UnavailableError,
)


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn what obstore raises inside into one of our errors."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no {what}") from error
    except (s3.PermissionDeniedError, s3.UnauthenticatedError) as error:
        raise PermissionDeniedError(f"S3 doesn't let us at {what}: {error}") from error
    except s3.NotSupportedError as error:
        raise FailedPreconditionError(f"the server can't do what S3 does: {error}") from error
    except s3.BaseError as error:
        raise UnavailableError(f"S3 doesn't answer about {what}: {error}") from error
