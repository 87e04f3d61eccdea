"""ValidateConnector against upstreams that go wrong: what a person is told."""

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.support.catalog import World, outside
from tests.support.connectors import opener

from ai.floedb.floecat.connector import connector_pb2 as messages
from floecat.catalog.callers import Caller
from floecat.catalog.connections import Connections
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.records import CatalogStores
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore

KINDS = ["delta-unity", "iceberg-rest"]


class Upstream(BaseHTTPRequestHandler):
    """Answers everything in one way."""

    def do_GET(self) -> None:
        answer: Any = self.server
        self.send_response(answer.status)
        self.send_header("Location", answer.location)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.status, server.body, server.location = 200, b"{}", ""
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def encrypted(upstream: Any, tmp_path: Path) -> str:
    """The same behind TLS, with a certificate that nobody vouches for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path / "server.pem"))
    upstream.socket = context.wrap_socket(upstream.socket, server_side=True)
    return f"https://127.0.0.1:{upstream.server_port}"


def self_signed(path: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def tried(kind: str, uri: str) -> messages.ValidateConnectorResponse:
    """Try a connector of an installed kind, as the service does."""
    stores = CatalogStores(MemoryKeyValueStore(), MemoryBlobStore())
    world = World(stores)
    parts, installed = outside(stores), opener()
    connectors = ConnectorRepository(stores, parts.secrets, installed)
    connections = Connections(connectors, parts.resolver, installed)
    credentials = messages.AuthCredentials(bearer=messages.BearerCredentials(token="canary"))
    spec = messages.ConnectorSpec(
        display_name="lake",
        kind_name=kind,
        uri=uri,
        auth=messages.AuthConfig(credentials=credentials),
    )
    request = messages.ValidateConnectorRequest(spec=spec)
    answer = connections.validate(Caller(world.account_id), request)
    assert "canary" not in str(answer)
    return answer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "problem", "told"),
    [
        (401, messages.VP_UNAUTHENTICATED, "doesn't accept the credentials"),
        (403, messages.VP_PERMISSION_DENIED, "grant them the right"),
        (404, messages.VP_NO_SUCH_WAREHOUSE, "check the URI"),
        (429, messages.VP_UPSTREAM_ERROR, "may work later"),
        (503, messages.VP_UPSTREAM_ERROR, "may work later"),
    ],
)
def test_statuses(upstream: Any, kind: str, status: int, problem: int, told: str) -> None:
    upstream.status = status
    answer = tried(kind, upstream.url)
    assert not answer.valid
    assert answer.problem == problem
    assert told in answer.message


@pytest.mark.parametrize("kind", KINDS)
class TestOnTheWay:
    def test_nobody_listens(self, upstream: Any, kind: str) -> None:
        upstream.shutdown()
        upstream.server_close()
        answer = tried(kind, upstream.url)
        assert answer.problem == messages.VP_CONNECTION_REFUSED
        assert "check host and port" in answer.message

    def test_a_name_nobody_knows(self, kind: str) -> None:
        answer = tried(kind, "http://no-such-host.invalid")
        assert answer.problem == messages.VP_NAME_NOT_RESOLVED
        assert "no-such-host.invalid" in answer.message

    def test_a_certificate_nobody_vouches_for(self, encrypted: str, kind: str) -> None:
        answer = tried(kind, encrypted)
        assert answer.problem == messages.VP_TLS
        assert "certificate" in answer.message

    def test_tls_where_none_is_spoken(self, upstream: Any, kind: str) -> None:
        answer = tried(kind, upstream.url.replace("http:", "https:"))
        assert answer.problem == messages.VP_TLS

    def test_an_address_that_isnt_allowed(self, kind: str) -> None:
        answer = tried(kind, "http://169.254.169.254/api")
        assert answer.problem == messages.VP_ADDRESS_NOT_ALLOWED

    def test_a_redirect_to_one(self, upstream: Any, kind: str) -> None:
        upstream.status, upstream.location = 302, "http://169.254.169.254/latest"
        answer = tried(kind, upstream.url)
        assert answer.problem == messages.VP_ADDRESS_NOT_ALLOWED

    @pytest.mark.parametrize(
        "body", [b"<html>", b"[]", b"\xff\x00", b'{"catalogs": 7}', b"[" * 9000]
    )
    def test_an_answer_that_makes_no_sense(self, upstream: Any, kind: str, body: bytes) -> None:
        upstream.body = body
        answer = tried(kind, upstream.url)
        assert answer.valid is False
        assert answer.message
