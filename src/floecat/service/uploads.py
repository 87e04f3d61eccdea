"""Messages of a client's stream, waited for, but not for ever.

gRPC lets a handler wait for the next message without end, and a client that sends nothing would
keep one of the few threads for streams. So another thread does the waiting, and the handler's own
gives up after a while. That other thread ends when the call does, which is at once.
"""

from collections.abc import Iterator
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, Generic, TypeVar

from floecat.errors import DeadlineExceededError

M = TypeVar("M")

DEFAULT_IDLE: Final = timedelta(seconds=60)


class Upload(Generic[M]):
    """A client's messages. One is asked for at a time, so that they don't pile up here."""

    def __init__(self, messages: Iterator[M], idle: timedelta) -> None:
        self._messages = messages
        self._idle = idle
        self._wanted: SimpleQueue[bool] = SimpleQueue()
        self._come: SimpleQueue[M | BaseException] = SimpleQueue()
        Thread(target=self._wait, name="floecat-upload", daemon=True).start()

    def __iter__(self) -> Iterator[M]:
        """The messages. DeadlineExceededError if the client lets us wait for too long."""
        try:
            while True:
                self._wanted.put(True)
                message = self._next()
                if isinstance(message, StopIteration):
                    return
                if isinstance(message, BaseException):
                    raise message
                yield message
        finally:
            self._wanted.put(False)

    def _next(self) -> M | BaseException:
        seconds = self._idle.total_seconds()
        try:
            return self._come.get(timeout=seconds)
        except Empty:
            raise DeadlineExceededError(
                f"the stream brought nothing for {seconds:g} s: send its messages without long "
                "breaks (server.streams.idle)",
                reason="STREAM_IDLE",
            ) from None

    def _wait(self) -> None:
        while self._wanted.get():
            try:
                self._come.put(next(self._messages))
            except BaseException as error:  # noqa: BLE001 - whatever it is, the handler is told
                self._come.put(error)
