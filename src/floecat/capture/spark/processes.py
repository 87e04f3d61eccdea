"""The Python processes that Spark's tasks run in, one task after another."""

import gc
import resource
from functools import cache
from pathlib import Path
from typing import Final

_SIZES: Final = Path("/proc/self/statm")
_DATA: Final = 5
"""Which of the sizes there is that of the data."""


@cache
def keep_modules() -> None:
    """What a process has at its first task stays, and needn't be looked through ever again."""
    gc.collect()
    gc.freeze()


@cache
def limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has now, and no others.

    A file of some hundred bytes may be a gigabyte when it is decoded. Beyond the limit Arrow and
    numpy raise, so that file fails; without one the system would end whatever it likes.
    """
    if not _SIZES.exists():  # only Linux tells, and only Linux keeps the limit
        return
    held = int(_SIZES.read_text().split()[_DATA]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = held + more
    if most == resource.RLIM_INFINITY or wanted < most:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))
