"""Running the same thing in many threads that start together."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tests.support.waiting import PATIENCE_SECONDS

T = TypeVar("T")


def together(calls: Sequence[Callable[[], T]]) -> list[T | BaseException]:
    """Start every call at the same moment; what each returned or raised, in order."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        barrier.wait(timeout=PATIENCE_SECONDS)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(run, call) for call in calls]
    return [future.exception() or future.result() for future in futures]
