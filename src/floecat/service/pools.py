"""Threads for one kind of call, and how many calls may wait for them."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from floecat.errors import ResourceExhaustedError

P = ParamSpec("P")
T = TypeVar("T")


class OverloadedError(ResourceExhaustedError):
    """Too many calls are waiting. Nothing of this one was begun, so it may be made again."""

    default_reason = "OVERLOADED"


class CallPool(ThreadPoolExecutor):
    """A pool whose queue has an end.

    gRPC submits a call on its only serving thread, where there is nothing to answer with: so what
    finds the queue full is handed to a thread that does nothing else, and the call itself, wrapped
    as every call is, asks `require_place` first and is refused there.
    """

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        super().__init__(threads, f"floecat-{name}")
        self._name = name
        self._waiting = waiting
        self._places = threading.Semaphore(threads + waiting)
        self._here = threading.local()
        self._refusals = ThreadPoolExecutor(
            1, f"floecat-{name}-full", initializer=self._refuse_here
        )

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call when a thread is free, or have it refused at once."""
        if not self._places.acquire(blocking=False):
            return self._refusals.submit(fn, *args, **kwargs)
        try:
            future = super().submit(fn, *args, **kwargs)
        except BaseException:
            self._places.release()
            raise
        future.add_done_callback(lambda _: self._places.release())
        return future

    def require_place(self) -> None:
        """Raise if the call on this thread found the queue full."""
        if getattr(self._here, "refusing", False):
            raise OverloadedError(
                f"every thread for {self._name} calls is busy, and {self._waiting} calls wait "
                "already: try again later",
                metadata={"pool": self._name},
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._refusals.shutdown(wait, cancel_futures=cancel_futures)

    def _refuse_here(self) -> None:
        self._here.refusing = True
