"""DynamoDB and S3 as moto plays them, on loopback, with moto's own flaws mended.

moto isn't thread-safe (two transactions at once see each other's half), so requests are served one
at a time; it scans a table in the order of insertion but resumes by key, so items are sorted; and
it forgets client tokens, which a test can ask it to remember.
"""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import moto.dynamodb.models.table as moto_table
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from typing_extensions import override
from werkzeug.serving import make_server

_TRANSACT = "DynamoDB_20120810.TransactWriteItems"


@dataclass(frozen=True, slots=True)
class Moto:
    endpoint: str
    app: "SerialApp"


class SerialApp:
    """moto's WSGI application behind one lock."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._answered: dict[str, tuple[str, list[tuple[str, str]], list[bytes]]] = {}
        self.remembers_tokens = False
        self.breaks_next: Callable[[str, str], bool] = lambda method, query: False
        self.broken = 0

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        with self._lock:
            token = self._token(environ) if self.remembers_tokens else None
            if token in self._answered:
                status, headers, body = self._answered[token]
                start_response(status, headers)
                return body
            began: list[Any] = []

            def remember(status: str, headers: list[tuple[str, str]], *_: Any) -> None:
                began[:] = [status, headers]

            body = list(self._app(environ, remember))
            if self.breaks_next(environ["REQUEST_METHOD"], environ.get("QUERY_STRING", "")):
                self.broken += 1
                self.breaks_next = lambda method, query: False
                start_response("500 Lost", [])
                return []
            if token is not None and began[0].startswith("200"):
                self._answered[token] = (began[0], began[1], body)
            start_response(*began)
            return body

    def _token(self, environ: dict[str, Any]) -> str | None:
        if environ.get("HTTP_X_AMZ_TARGET") != _TRANSACT:
            return None
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        environ["wsgi.input"] = BytesIO(body)
        token: str | None = json.loads(body).get("ClientRequestToken")
        return token


def _sort_scans() -> None:
    unsorted = moto_table.Table.all_items

    def in_order(self: Any) -> Any:
        return sorted(unsorted(self), key=lambda item: (item.hash_key.value, item.range_key.value))

    setattr(moto_table.Table, "all_items", in_order)  # noqa: B010 - mypy minds the plain form


@contextmanager
def running_moto() -> Iterator[Moto]:
    _sort_scans()
    app = SerialApp(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, True, request_handler=_QuietHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield Moto(f"http://127.0.0.1:{server.server_port}", app)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _QuietHandler(MotoRequestHandler):
    @override
    def log_request(self, *args: Any) -> None:
        """Say nothing."""
