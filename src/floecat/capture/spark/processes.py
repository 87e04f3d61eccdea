"""The Python processes that Spark's tasks run in, one task after another."""

import gc
from functools import cache


@cache
def keep_modules() -> None:
    """What a process has at its first task stays, and needn't be looked through ever again."""
    gc.collect()
    gc.freeze()
