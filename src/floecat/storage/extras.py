"""Libraries that only some backends need."""

from collections.abc import Iterator
from contextlib import contextmanager

from floecat.errors import FailedPreconditionError


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Say what to install when a backend's library isn't."""
    try:
        yield
    except ImportError as error:
        raise FailedPreconditionError(
            f"this needs a library that isn't installed: pip install 'floecat[{name}]'",
            reason="MISSING_EXTRA",
            metadata={"extra": name},
        ) from error
