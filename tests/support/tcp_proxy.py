"""A proxy before PostgreSQL that loses a COMMIT, or the answer to it, when told to."""

import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path

from tests.support.faults import Meanwhile, nothing

COMMIT = b"COMMIT\0"  # not the COMMITTED of the isolation level


class _Fault(Enum):
    LOSE_REQUEST = 1
    LOSE_REPLY = 2


class CommitLosingProxy:
    """Listens on loopback and passes bytes to a unix socket."""

    def __init__(self, server: Path) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.lost = 0
        self._fault: _Fault | None = None
        self._meanwhile: Meanwhile = nothing
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def lose_next_request(self, meanwhile: Meanwhile = nothing) -> None:
        self._fault, self._meanwhile = _Fault.LOSE_REQUEST, meanwhile

    def lose_next_reply(self, meanwhile: Meanwhile = nothing) -> None:
        self._fault, self._meanwhile = _Fault.LOSE_REPLY, meanwhile

    def cut_all(self) -> None:
        """End every connection now."""
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.refuse()
        self.cut_all()
        for thread in self._threads:
            thread.join()

    def refuse(self) -> None:
        """Take no new connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(str(self._server))
            self._open += [client, server]
            with suppress(OSError):
                while self._pass_on(client, server):
                    pass

    def _pass_on(self, client: socket.socket, server: socket.socket) -> bool:
        ready, _, _ = select.select([client, server], [], [])
        if server in ready:
            return _copy(server, client.sendall)
        data = client.recv(1 << 20)
        fault, meanwhile = self._fault, self._meanwhile
        if fault is None or COMMIT not in data:
            server.sendall(data)
            return bool(data)
        self._fault = None
        self.lost += 1
        if fault is _Fault.LOSE_REPLY:
            server.sendall(data)
            _swallow_answer(client, server)
        else:
            server.close()
        meanwhile()
        return False


def _swallow_answer(client: socket.socket, server: socket.socket) -> None:
    """Pass on the rest of the request (it may come in pieces) until the server has committed."""
    answer = b""
    while COMMIT not in answer:
        ready, _, _ = select.select([client, server], [], [])
        if client in ready:
            _copy(client, server.sendall)
        if server in ready:
            answer += server.recv(1 << 20)


def _copy(source: socket.socket, send: Callable[[bytes], object]) -> bool:
    data = source.recv(1 << 20)
    send(data)
    return bool(data)
