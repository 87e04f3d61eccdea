"""opened_source: a planned file, opened as the parquet file that it should be."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from floecat.capture.failures import CaptureFailure, reasons
from floecat.capture.memory import MemoryLimit
from floecat.capture.parquet.reading import ParquetSource
from floecat.capture.parquet.schemas import KnownSchemas
from floecat.connectors.spi.access import FileAccess


@dataclass(frozen=True, slots=True)
class Opening:
    """What files of a task are opened with."""

    schemas: KnownSchemas | None = None
    """Of other files of the same table, which may be the same."""
    limit: MemoryLimit | None = None


ALONE: Final = Opening()


@contextmanager
def opened_source(
    access: FileAccess, planned: PlannedFile, opening: Opening = ALONE
) -> Iterator[ParquetSource]:
    """Open a file. What goes wrong with its bytes, also later, is a `CaptureFailure`."""
    identity = planned.identity
    with reasons(identity.file_path), access.open(identity.file_path) as file:
        size = file.size()
        if size != identity.size_bytes:
            raise CaptureFailure(
                f"it has {size} bytes, and {identity.size_bytes} were planned: "
                "it isn't the file any more that it was"
            )
        is_far = not access.is_local(identity.file_path)
        yield ParquetSource(file, size, opening.schemas, opening.limit, is_far=is_far)
