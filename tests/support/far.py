"""An object store that takes its time: S3's reading of objects on loopback, every answer late."""

import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.support.captures import planned

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from floecat.connectors.spi.access import FileAccess
from floecat.security.guard import OutboundRules
from floecat.security.secret import Secret

_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
BUCKET = "far"


@dataclass(slots=True)
class FarStore:
    """The files, by name, and what was asked of them."""

    endpoint: str
    asked: list[str] = field(default_factory=list)

    @property
    def access(self) -> FileAccess:
        return FileAccess(
            rules=OutboundRules(private_addresses=True),
            endpoint=self.endpoint,
            region="us-east-1",
            access_key_id=Secret("somebody"),
            secret_access_key=Secret("something"),
        )

    def planned(self, path: Path) -> PlannedFile:
        """A file as a plan has it, by its address here."""
        file = planned(path)
        file.identity.file_path = file.file.file_path = f"s3://{BUCKET}/{path.name}"
        return file


@contextmanager
def far_store(files: list[Path], seconds: float) -> Iterator[FarStore]:
    """Serve some files."""
    contents = {f"/{BUCKET}/{path.name}": path.read_bytes() for path in files}
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    store = FarStore(f"http://127.0.0.1:{server.server_address[1]}")
    server.RequestHandlerClass = _handler(store, contents, seconds)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(
    store: FarStore, contents: Mapping[str, bytes], seconds: float
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, *, with_body: bool) -> None:
            asked = self.headers.get("Range", "")
            store.asked.append(f"{self.command} {asked}")
            time.sleep(seconds)
            content = contents.get(self.path.partition("?")[0])
            if content is None:
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            part = memoryview(content)
            found = _RANGE.match(asked)
            self.send_response(206 if found else 200)
            if found:
                start = int(found[1])
                part = part[start : int(found[2]) + 1 if found[2] else None]
                said = f"bytes {start}-{start + len(part) - 1}/{len(content)}"
                self.send_header("Content-Range", said)
            self.send_header("Content-Length", str(len(part)))
            self.send_header("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")
            self.end_headers()
            if with_body:
                self.wfile.write(part)

    return Handler
