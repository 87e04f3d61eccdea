"""CaptureFailure: why one file can't be read, in words a person can act on."""

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
import pyarrow as pa

from floecat.capture.parquet.errors import MalformedParquetError
from floecat.connectors.spi.errors import ConnectorError
from floecat.errors import ErrorCode


class CaptureFailure(Exception):  # noqa: N818 - it is an outcome of a file, not of the work
    """A file that can't be read."""

    def __init__(self, reason: str, *, retryable: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retryable = retryable


@contextmanager
def reasons(path: str) -> Iterator[None]:
    """Make failures of whatever goes wrong with a file's bytes."""
    try:
        yield
    except CaptureFailure as failure:
        raise CaptureFailure(f"{path}: {failure.reason}", retryable=failure.retryable) from failure
    except FileNotFoundError as error:
        raise CaptureFailure(f"{path}: it isn't there any more") from error
    except MalformedParquetError as error:
        raise CaptureFailure(f"{path}: it can't be read as parquet: {error.message}") from error
    except MemoryError as error:
        raise CaptureFailure(
            f"{path}: reading it takes more memory than a task may have (capture.task-memory)"
        ) from error
    except (pa.ArrowException, pl.exceptions.PolarsError, ValueError, ArithmeticError) as error:
        raise CaptureFailure(f"{path}: it can't be read as parquet: {error}") from error
    except (LookupError, TypeError, AttributeError) as error:
        # Bytes that nobody thought of: they must not fail the files beside them.
        raise CaptureFailure(f"{path}: it can't be read as parquet: {error!r}") from error
    except OSError as error:
        raise _of_bytes_or_network(path, error) from error
    except ConnectorError as error:
        raise CaptureFailure(
            f"{path}: {error.message}", retryable=error.code is ErrorCode.UNAVAILABLE
        ) from error


def _of_bytes_or_network(path: str, error: OSError) -> CaptureFailure:
    """Pyarrow raises OSError without a number for damaged pages, and with one for the system's."""
    if error.errno is None:
        return CaptureFailure(f"{path}: it can't be read as parquet: {error}")
    return CaptureFailure(f"{path}: {error}", retryable=True)
