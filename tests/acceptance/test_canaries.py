"""Unique canaries in every secret field: afterwards they are nowhere but in the secrets store."""

import base64
import binascii
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus
from uuid import uuid4

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict
from tests.support.cli import Cli, serving

import floecat
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey
from ai.floedb.floecat.connector import connector_pb2 as messages
from ai.floedb.floecat.connector.connector_pb2 import AuthCredentials
from floecat.errors import FloecatError

SECRET_FIELDS = {
    "token",
    "client_secret",
    "subject_token",
    "assertion",
    "access_key_id",
    "secret_access_key",
    "session_token",
    "web_identity_token",
}
PUBLIC_FIELDS = {
    "endpoint",
    "client_id",
    "scopes",
    "provider",
    "profile",
    "subject_token_type",
    "requested_token_type",
    "audience",
    "tenant_id",
    "service_account_email",
    "region",
    "role_arn",
    "external_id",
    "session_name",
    "source",
    "duration",
}
"""Kept with the secrets all the same; but nobody minds seeing them."""


def credential_types() -> list[str]:
    oneof = AuthCredentials.DESCRIPTOR.oneofs_by_name["credentials"]
    return [field.name for field in oneof.fields]


class Canaries:
    """Secrets that were never seen before, and every way they might show."""

    def __init__(self) -> None:
        self.planted: list[str] = []

    def plant(self) -> str:
        self.planted.append(f"canary{uuid4().hex}")
        return self.planted[-1]

    def found_in(self, content: bytes) -> list[str]:
        return [c for c in self.planted if any(form in content for form in forms(c))]

    def credentials(self, kind: str, endpoint: str) -> dict[str, Any]:
        field = AuthCredentials.DESCRIPTOR.fields_by_name[kind]
        message = field.message_type
        assert message is not None
        return {kind: self._filled(message, endpoint)}

    def _filled(self, message: Descriptor, endpoint: str) -> dict[str, Any]:
        filled: dict[str, Any] = {}
        for field in message.fields:
            assert field.name in SECRET_FIELDS | PUBLIC_FIELDS, f"is {field.name} a secret?"
            if field.name in SECRET_FIELDS:
                filled[field.name] = self.plant()
            elif field.name == "endpoint":
                filled[field.name] = endpoint
            elif field.name == "source" and field.message_type:
                filled[field.name] = self._filled(field.message_type, endpoint)
            elif field.type == FieldDescriptor.TYPE_STRING and field.name != "scopes":
                filled[field.name] = "public"
        return filled


def forms(canary: str) -> list[bytes]:
    """Raw, hex, url-encoded, and base64 at each of its three offsets."""
    raw = canary.encode()
    shifted = (base64.b64encode(b"\x00" * pad + raw)[4 * bool(pad) : -4] for pad in range(3))
    hexed = binascii.hexlify(raw)
    return [raw, hexed, hexed.upper(), quote_plus(canary).encode(), *shifted]


class Echo(BaseHTTPRequestHandler):
    """An upstream that repeats whatever it was sent, as badly behaved ones do."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        told = json.dumps(
            {"error": str(self.headers), "message": body.decode() + str(self.headers)}
        )
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()
        self.wfile.write(told.encode())

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.status = 400
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    server.url = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_no_secret_shows_anywhere(upstream: Any, tmp_path: Path) -> None:
    canaries = Canaries()
    with serving(tmp_path, log_level="debug", log_format="json") as cli:
        with floecat.connect(cli.environment["FLOECAT_CLIENT_SERVER"]) as clients:
            talk = Talk(clients)
            for kind in credential_types():
                for status in (400, 401, 403, 500):
                    upstream.status = status
                    talk.use(canaries, kind, upstream.url)
        said = [*talk.said, *refused(cli, canaries), cli("connector", "list", "--json").out]
    said.append((tmp_path / "log").read_text())
    assert "CreateConnector" in said[-1], "the log was looked at"
    assert len(canaries.planted) > 100
    assert canaries.found_in("\n".join(said).encode()) == []
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert any(path.stat().st_size > 10_000 for path in files), "the store was looked at"
    for path in files:
        assert canaries.found_in(path.read_bytes()) == [], path


class Talk:
    """Calls, and everything that was said in answer to them."""

    def __init__(self, clients: floecat.GrpcClients) -> None:
        self._clients = clients
        self.said: list[str] = []

    def call(self, method: str, request: Any) -> Any:
        try:
            answer = getattr(self._clients.connectors, method)(request)
        except FloecatError as error:
            self.said.append(f"{error!r} {error.message} {error.metadata}")
            return None
        self.said.append(repr(answer.SerializeToString()) + str(answer))
        return answer

    def use(self, canaries: Canaries, kind: str, url: str) -> None:
        """Create, show, try, update, try again and delete a connector."""
        created = self.call(
            "CreateConnector",
            messages.CreateConnectorRequest(
                spec=self._spec(canaries, kind, url), idempotency=IdempotencyKey(key=uuid4().hex)
            ),
        )
        connector_id = created.connector.resource_id
        self.call("GetConnector", messages.GetConnectorRequest(connector_id=connector_id))
        trial = messages.ValidateConnectorRequest(connector_id=connector_id)
        self.call("ValidateConnector", trial)
        spec = self._spec(canaries, kind, url)
        self.call("ValidateConnector", messages.ValidateConnectorRequest(spec=spec))
        update = messages.UpdateConnectorRequest(connector_id=connector_id, spec=spec)
        self.call("UpdateConnector", update)
        self.call("ValidateConnector", trial)
        self.call(
            "CreateConnector", messages.CreateConnectorRequest(spec=spec)
        )  # the name is taken
        if kind in {"bearer", "aws"}:
            delete = messages.DeleteConnectorRequest(connector_id=connector_id)
            self.call("DeleteConnector", delete)

    def _spec(self, canaries: Canaries, kind: str, url: str) -> messages.ConnectorSpec:
        credentials = ParseDict(canaries.credentials(kind, f"{url}/token"), AuthCredentials())
        auth = messages.AuthConfig(credentials=credentials, headers={"X-Key": canaries.plant()})
        return messages.ConnectorSpec(
            display_name=f"{kind}{len(self.said)}", kind_name="delta-unity", uri=url, auth=auth
        )


def refused(cli: Cli, canaries: Canaries) -> list[str]:
    """Secrets where they don't belong: refused, and not repeated."""
    base = ["connector", "create", "x", "--kind", "delta-unity"]
    attempts = [
        [*base, "--uri", f"https://me:{canaries.plant()}@catalog"],
        [*base, "--uri", f"https://catalog?access_token={canaries.plant()}"],
        [*base, "--uri", "https://catalog", "--set", f"client_secret={canaries.plant()}"],
        [*base, "--uri", "https://catalog", "--auth", f"password={canaries.plant()}"],
    ]
    ran = [cli.run(*attempt) for attempt in attempts]
    assert all(attempt.code != 0 for attempt in ran)
    return [text for attempt in ran for text in (attempt.out, attempt.err)]
