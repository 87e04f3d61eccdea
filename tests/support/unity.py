"""A small Unity Catalog to test against: the REST calls that are asked of it, paged by two."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

API = "/api/2.1/unity-catalog/"
PAGE = 2


@dataclass
class Unity:
    """What the server has, and what it was asked."""

    tables: list[dict[str, Any]] = field(default_factory=list)
    token: str = "unity-token"
    keys: dict[str, str] = field(default_factory=dict)
    fails: int = 0
    """A status to answer everything with."""
    asked: list[str] = field(default_factory=list)
    uri: str = ""

    def add(self, catalog: str, schema: str, name: str, **more: Any) -> None:
        entry = {"catalog_name": catalog, "schema_name": schema, "name": name, "table_id": name}
        defaults = {"table_type": "EXTERNAL", "data_source_format": "DELTA"}
        self.tables.append({**entry, **defaults, **more})

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, dict[str, Any]]:
        what, _, name = path.partition("/")
        if what == "temporary-table-credentials":
            return 200, {"aws_temp_credentials": self.keys, "expiration_time": 4102444800000}
        rows = self._rows(what, query)
        if not name:
            start = int(query.get("page_token") or 0)
            rest = start + PAGE < len(rows)
            token = {"next_page_token": str(start + PAGE)} if rest else {}
            return 200, {what: rows[start : start + PAGE], **token}
        parts = [unquote(part) for part in name.split(".")]
        found = [row for row in self._rows(what, {}) if self._full(what, row) == parts]
        return (200, found[0]) if found else (404, {"message": f"{name} doesn't exist"})

    def _rows(self, what: str, query: dict[str, str]) -> list[dict[str, Any]]:
        chosen = [
            table
            for table in self.tables
            if all(table[k] == v for k, v in query.items() if k.endswith("_name"))
        ]
        if what == "tables":
            return chosen
        if what == "catalogs":
            return [{"name": name} for name in sorted({t["catalog_name"] for t in chosen})]
        pairs = sorted({(t["catalog_name"], t["schema_name"]) for t in chosen})
        return [{"catalog_name": catalog, "name": schema} for catalog, schema in pairs]

    @staticmethod
    def _full(what: str, row: dict[str, Any]) -> list[str]:
        above = {"catalogs": (), "schemas": ("catalog_name",)}
        keys = above.get(what, ("catalog_name", "schema_name"))
        return [*(row[key] for key in keys), row["name"]]


@contextmanager
def running_unity() -> Iterator[Unity]:
    unity = Unity()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            unity.asked.append(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            if unity.fails:
                self._send(unity.fails, {"message": "as the test says"})
            elif self.headers.get("Authorization") != f"Bearer {unity.token}":
                self._send(401, {"message": "who are you?"})
            else:
                self._send(*unity.answer(parts.path.removeprefix(API), query))

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.do_GET()

        def _send(self, status: int, body: dict[str, Any]) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    unity.uri = f"http://127.0.0.1:{server.server_port}"
    try:
        yield unity
    finally:
        server.shutdown()
        server.server_close()
