"""MemoryLimit: what decoding a batch may take. A file of some bytes can be gigabytes then."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

_SIZES: Final = Path("/proc/self/statm")
_DATA: Final = 5
"""Which of the sizes there is that of the data."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """So many bytes more than the process has. For processes that do nothing else meanwhile.

    Beyond it Arrow and Python raise MemoryError. Polars doesn't: what is out of memory there may
    wait for itself forever. So the limit holds while Arrow decodes, and not for what comes then.
    """

    more: int

    def each(self, batches: Iterator[T]) -> Iterator[T]:
        """The same batches, each made within the limit."""
        while True:
            with self.kept():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the limit for a while."""
        before, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = _held() + self.more
        others = [limit for limit in (before, most) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min([wanted, *others]), most))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def _held() -> int:
    return int(_SIZES.read_text().split()[_DATA]) * resource.getpagesize()


def memory_limit(more: int) -> MemoryLimit | None:
    """The limit, where it can be kept: only Linux tells what a process has, and holds it to it."""
    return MemoryLimit(more) if _SIZES.exists() else None
