"""Threads for one kind of call, and how many calls may wait for them."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, ParamSpec, TypeVar

import structlog

from floecat.errors import ResourceExhaustedError

_LOG: Final = structlog.get_logger(log="floecat.calls")

P = ParamSpec("P")
T = TypeVar("T")


class OverloadedError(ResourceExhaustedError):
    """Too many calls are waiting. Nothing of this one was begun, so it may be made again."""

    default_reason = "OVERLOADED"


class _Here(threading.local):
    """What a thread is for."""

    refusing = False


class _QueuedCall(Future[Any]):
    """A call that waits or runs. It can be told to call back when it is over, and nothing else.

    That is all gRPC asks of it; a whole future, with its lock, its states and its waiters, would
    cost every call about as much as authenticating it does.
    """

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._over = False
        self._callbacks: list[Callable[[Future[Any]], object]] = []

    def run(self) -> None:
        """Make the call."""
        try:
            self._call()
        finally:
            self._over = True
            self._call_back()

    def add_done_callback(self, fn: Callable[[Future[Any]], object]) -> None:
        """Call back when it is over, or now if it is."""
        self._callbacks.append(fn)
        if self._over:
            self._call_back()

    def _call_back(self) -> None:
        # Both sides may come here at once: whoever takes a callback out of the list calls it.
        with suppress(IndexError):
            while self._callbacks:
                self._callbacks.pop()(self)


class CallPool(ThreadPoolExecutor):
    """A pool whose queue has an end.

    gRPC submits a call on its only serving thread, where there is nothing to answer with: so what
    finds the queue full is handed to a thread that does nothing else, and the call itself, wrapped
    as every call is, asks `require_place` first and is refused there.

    It is an executor because gRPC takes nothing else; the threads and the queue are its own.
    """

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        super().__init__(1, f"floecat-{name}")
        self._name = name
        self._waiting = waiting
        self._queue: SimpleQueue[_QueuedCall | None] = SimpleQueue()
        self._places: SimpleQueue[None] = SimpleQueue()
        for _ in range(threads + waiting):
            self._places.put(None)
        self._here = _Here()
        self._refusals = ThreadPoolExecutor(
            1, f"floecat-{name}-full", initializer=self._refuse_here
        )
        self._workers = [
            threading.Thread(target=self._work, name=f"floecat-{name}-{number}", daemon=True)
            for number in range(threads)
        ]
        for worker in self._workers:
            worker.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call when a thread is free, or have it refused at once."""
        try:
            self._places.get_nowait()
        except Empty:
            return self._refusals.submit(fn, *args, **kwargs)
        call = _QueuedCall(partial(fn, *args, **kwargs))
        self._queue.put(call)
        return call

    def require_place(self) -> None:
        """Raise if the call on this thread found the queue full."""
        if self._here.refusing:
            raise OverloadedError(
                f"every thread for {self._name} calls is busy, and {self._waiting} calls wait "
                "already: try again later",
                metadata={"pool": self._name},
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls."""
        if cancel_futures:
            with suppress(Empty):
                while True:
                    self._queue.get_nowait()
        for _ in self._workers:
            self._queue.put(None)
        if wait:
            for worker in self._workers:
                worker.join()
        self._refusals.shutdown(wait, cancel_futures=cancel_futures)
        super().shutdown(wait)

    def _work(self) -> None:
        while (call := self._queue.get()) is not None:
            try:
                call.run()
            except Exception:  # noqa: BLE001 - the thread must go on to the next call
                _LOG.exception("call")
            self._places.put(None)
            del call  # or the last call would live on until the next one comes

    def _refuse_here(self) -> None:
        self._here.refusing = True
