"""Messages of a client's stream, waited for, but not for ever, and known to be all of them.

gRPC lets a handler wait for the next message without end, and a client that sends nothing would
keep one of the few threads for streams. So another thread does the waiting, and the handler's own
gives up after a while. That other thread ends when the call does, which is at once.

A stream that breaks off can look as if it had ended: gRPC tells of the end of the messages and of
the break in two steps, and one stream in twenty that was cancelled on purpose was taken for whole.
So a stream may promise to say which message is its last, and isn't whole without it; after one that
promises nothing the second step is awaited, for as long as a thread takes to have some turns.
"""

from collections.abc import Iterator
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Final, Generic, Protocol, Self, TypeVar

import grpc

from floecat.errors import CancelledError, DeadlineExceededError, InvalidArgumentError

M = TypeVar("M")

DEFAULT_IDLE: Final = timedelta(seconds=60)

_TURN_SECONDS: Final = 0.005
_TURNS: Final = 20
"""A break is told within 2 ms of the end where nothing else runs, 16 ms with busy processes beside.
With busy threads in the same process it takes as long as all of them have their turns; and as the
one who waits needs turns, too, it waits longer then."""


class Ending(Protocol):
    """A message that can say that no other follows it; the first, that one will."""

    @property
    def last(self) -> bool: ...
    @property
    def says_last(self) -> bool: ...


E = TypeVar("E", bound=Ending)


def whole(messages: Iterator[E], context: grpc.ServicerContext) -> Iterator[E]:
    """The messages; at their end, CancelledError if the client broke off before it had sent all."""
    gone = Event()
    if not context.add_callback(gone.set):
        raise CancelledError("the client has gone")
    ended = promised = False
    for message in messages:
        if ended:
            raise InvalidArgumentError(
                "the stream goes on after a message that says it is the last", field="last"
            )
        ended = message.last
        promised = promised or message.says_last
        yield message
    if ended:
        return
    if promised:
        raise CancelledError("the stream broke off: its last message hasn't come")
    if any(gone.wait(_TURN_SECONDS) for _ in range(_TURNS)):
        raise CancelledError("the client has gone")


class Upload(Generic[M]):
    """A client's messages. One is asked for at a time, so that they don't pile up here.

    Used in a `with`, at whose end nobody waits for messages any more.
    """

    def __init__(self, messages: Iterator[M], idle: timedelta) -> None:
        self._messages = messages
        self._idle = idle
        self._wanted: SimpleQueue[bool] = SimpleQueue()
        self._come: SimpleQueue[M | BaseException] = SimpleQueue()

    def __enter__(self) -> Self:
        Thread(target=self._wait, name="floecat-upload", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._wanted.put(False)

    def __iter__(self) -> Iterator[M]:
        """The messages. DeadlineExceededError if the client lets us wait for too long."""
        while True:
            self._wanted.put(True)
            message = self._next()
            if isinstance(message, StopIteration):
                return
            if isinstance(message, BaseException):
                raise message
            yield message

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
