"""What goes wrong with Iceberg metadata, in the SPI's terms."""

import json
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from floecat.connectors.failures import connector_error
from floecat.connectors.spi.errors import (
    BrokenTableError,
    ConnectorError,
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamProblem,
)
from floecat.errors import FloecatError
from floecat.types.errors import InvalidTypeError, InvalidValueError, UnsupportedTypeError

MALFORMED: Final = (
    ArithmeticError,
    AttributeError,
    EOFError,
    InvalidTypeError,
    InvalidValueError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    UnsupportedTypeError,
    ValueError,
    json.JSONDecodeError,
    pa.ArrowException,
    struct.error,
    zlib.error,
)
"""What decoding bytes that aren't what they should be can raise."""

_DENIED: Final = re.compile(r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT_MATCH|\b403\b")
_MISSING_BUCKET: Final = re.compile(r"NO_SUCH_BUCKET")
_PASSING: Final = re.compile(
    r"NETWORK_CONNECTION|SLOW_DOWN|THROTTL|INTERNAL_FAILURE|SERVICE_UNAVAILABLE|REQUEST_TIMEOUT"
    r"|status:? (?:429|5[0-9]{2})"
)


@contextmanager
def reading(relation: str) -> Iterator[None]:
    """Turns what reading one relation's metadata raises into the SPI's errors."""
    try:
        yield
    except ConnectorError:
        raise
    except FileNotFoundError as error:
        raise BrokenTableError(f"{relation}: a metadata file is missing: {error}") from error
    except MALFORMED as error:
        raise BrokenTableError(f"{relation}: its metadata can't be read: {shown(error)}") from error
    except OSError as error:
        raise of_storage(error, relation) from error
    except FloecatError as error:
        raise connector_error(error, relation) from error


@contextmanager
def understanding(place: str) -> Iterator[None]:
    """Turns an answer that doesn't follow the protocol into the SPI's error for it."""
    try:
        yield
    except MALFORMED as error:
        raise PermanentUpstreamError(
            f"what {place} answered isn't what the protocol says: {shown(error)}"
        ) from error


def of_storage(error: OSError, place: str) -> ConnectorError:
    """The failure of a file system. Arrow's S3 says what happened in its message only."""
    text = str(error)
    if _DENIED.search(text):
        return PermanentUpstreamError(
            f"the storage of {place} doesn't allow reading it: check the credentials' rights",
            UpstreamProblem.PERMISSION_DENIED,
        )
    if _MISSING_BUCKET.search(text):
        return PermanentUpstreamError(
            f"the bucket of {place} doesn't exist", UpstreamProblem.NO_SUCH_WAREHOUSE
        )
    if _PASSING.search(text):
        return TransientUpstreamError(f"the storage of {place} can't be reached; it may work later")
    return connector_error(error, place)


def shown(error: BaseException) -> str:
    """What an exception says, in one short line."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def missing_library(name: str) -> PermanentUpstreamError:
    """The error when the extra isn't installed."""
    return PermanentUpstreamError(
        f"Iceberg connectors need {name}, which isn't installed: pip install 'floecat[iceberg]'",
        UpstreamProblem.BAD_SPEC,
    )
