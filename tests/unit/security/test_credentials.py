"""From credentials as given to credentials that can be used: real endpoints, real processes."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from ai.floedb.floecat.connector.connector_pb2 import AuthConfig, AuthCredentials
from ai.floedb.floecat.connector.stored_pb2 import StoredCredentials
from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.errors import ConnectorError, TransientUpstreamError, UpstreamProblem
from floecat.security.credentials.commands import CommandLineTools
from floecat.security.credentials.resolution import CREDENTIAL_TYPES, CredentialResolver
from floecat.security.credentials.tokens import TokenEndpoint
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.security.secret import Secret

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GUARD = OutboundGuard(OutboundRules(private_addresses=True))


class Issuer(BaseHTTPRequestHandler):
    """A token endpoint that answers what the test says."""

    status = 200
    body: bytes = b"{}"
    forms: list[dict[str, list[str]]]

    def do_POST(self) -> None:
        server: Any = self.server
        length = int(self.headers["Content-Length"])
        server.forms.append(parse_qs(self.rfile.read(length).decode()))
        self.send_response(server.status)
        self.end_headers()
        self.wfile.write(server.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def issuer() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
    server.forms, server.status, server.body = [], 200, b"{}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    server.url = f"http://127.0.0.1:{server.server_port}/token"
    yield server
    server.shutdown()
    server.server_close()


def resolve(given: dict[str, Any], *, enabled: bool = True, **auth: Any) -> ResolvedAuth:
    endpoint = TokenEndpoint(GUARD, lambda: NOW)
    resolver = CredentialResolver(endpoint, CommandLineTools(enabled=enabled))
    stored = StoredCredentials(credentials=AuthCredentials(**given), headers={"X-Key": "h"})
    return resolver.resolve(AuthConfig(**auth), stored)


def test_every_type_of_the_contract_has_a_name() -> None:
    fields = AuthCredentials.DESCRIPTOR.oneofs_by_name["credentials"].fields
    assert {field.name for field in fields} == set(CREDENTIAL_TYPES)


def test_a_token_is_taken_as_it_is() -> None:
    found = resolve({"bearer": {"token": "t"}}, properties={"audience": "x"})
    assert (found.scheme, found.secrets) == ("bearer", {"token": Secret("t")})
    assert (found.headers, found.options) == ({"X-Key": Secret("h")}, {"audience": "x"})


def test_aws_keys_sign() -> None:
    keys = {"access_key_id": "AK", "secret_access_key": "sk", "region": "eu-west-1"}
    found = resolve({"aws": keys}, properties={"service": "s3tables"})
    assert found.scheme == "aws-sigv4"
    assert set(found.secrets) == {"access_key_id", "secret_access_key"}
    assert found.options == {"region": "eu-west-1", "service": "s3tables"}


def test_a_named_scheme_wins() -> None:
    assert resolve({"bearer": {"token": "t"}}, scheme="mine").scheme == "mine"
    assert resolve({}).scheme == "none"


class TestClient:
    def given(self, issuer: Any) -> dict[str, Any]:
        client = {"endpoint": issuer.url, "client_id": "me", "client_secret": "canary"}
        return {"client": {**client, "scopes": ["a", "b"]}}

    def test_id_and_secret_become_a_token(self, issuer: Any) -> None:
        issuer.body = json.dumps({"access_token": "t", "expires_in": 60}).encode()
        found = resolve(self.given(issuer))
        assert (found.scheme, found.secrets) == ("bearer", {"token": Secret("t")})
        assert found.expires_at == datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
        [form] = issuer.forms
        assert form["grant_type"] == ["client_credentials"]
        assert form["scope"] == ["a b"]
        assert form["client_secret"] == ["canary"]

    @pytest.mark.parametrize(
        ("status", "body", "problem"),
        [
            (401, b'{"error": "invalid_client"}', UpstreamProblem.UNAUTHENTICATED),
            (400, b"canary echoed", UpstreamProblem.UNAUTHENTICATED),
            (403, b"", UpstreamProblem.PERMISSION_DENIED),
            (404, b"", UpstreamProblem.NO_SUCH_WAREHOUSE),
            (503, b"", UpstreamProblem.UPSTREAM_ERROR),
            (200, b"<html>", UpstreamProblem.BAD_SPEC),
            (200, b"[]", UpstreamProblem.BAD_SPEC),
            (200, b'{"access_token": 7}', UpstreamProblem.BAD_SPEC),
        ],
    )
    def test_what_goes_wrong_is_said(
        self, issuer: Any, status: int, body: bytes, problem: UpstreamProblem
    ) -> None:
        issuer.status, issuer.body = status, body
        with pytest.raises(ConnectorError) as failed:
            resolve(self.given(issuer))
        assert failed.value.problem is problem
        assert "canary" not in failed.value.message
        assert isinstance(failed.value, TransientUpstreamError) == (status == 503)

    def test_an_endpoint_nobody_may_ask(self) -> None:
        with pytest.raises(ConnectorError) as failed:
            resolve({"client": {"endpoint": "http://169.254.169.254/token"}})
        assert failed.value.problem is UpstreamProblem.ADDRESS_NOT_ALLOWED


class TestTools:
    @pytest.fixture(autouse=True)
    def tools(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setenv("FLOECAT_KV_POSTGRES_URL", "canary")
        return tmp_path

    def install(self, tools: Path, name: str, script: str) -> None:
        program = tools / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o700)

    def test_aws(self, tools: Path) -> None:
        answer = {
            "AccessKeyId": "AK",
            "SecretAccessKey": "sk",
            "Expiration": "2026-01-01T01:00:00Z",
        }
        self.install(tools, "aws", f"echo \"$@\" > {tools}/asked; echo '{json.dumps(answer)}'")
        found = resolve({"cli": {"provider": "aws", "profile": "prod"}})
        assert found.scheme == "aws-sigv4"
        assert found.secrets["secret_access_key"] == Secret("sk")
        assert found.expires_at == datetime(2026, 1, 1, 1, tzinfo=UTC)
        assert "--profile prod" in (tools / "asked").read_text()

    @pytest.mark.parametrize(
        ("provider", "tool", "printed"),
        [
            ("databricks", "databricks", '{"access_token": "t"}'),
            ("azure", "az", '{"accessToken": "t"}'),
            ("gcloud", "gcloud", "t"),
        ],
    )
    def test_tools_that_print_tokens(
        self, tools: Path, provider: str, tool: str, printed: str
    ) -> None:
        self.install(tools, tool, f"echo '{printed}'")
        found = resolve({"cli": {"provider": provider}})
        assert (found.scheme, found.secrets) == ("bearer", {"token": Secret("t")})

    def test_tools_dont_see_the_services_own_secrets(self, tools: Path) -> None:
        self.install(tools, "gcloud", "env | grep -c canary")
        with pytest.raises(ConnectorError, match="no credentials"):
            resolve({"cli": {"provider": "gcloud"}})

    @pytest.mark.parametrize(
        ("given", "script", "message"),
        [
            ({"provider": "gcloud"}, "exit 3", "ended with 3"),
            ({"provider": "databricks"}, "echo canary", "isn't what it prints"),
            ({"provider": "oracle"}, "", "no tool 'oracle'"),
            ({"provider": "aws"}, "", "isn't installed"),
            ({"provider": "gcloud", "profile": "; rm -rf /"}, "", "can't be a profile"),
            ({"provider": "gcloud", "profile": "--help"}, "", "can't be a profile"),
        ],
    )
    def test_what_goes_wrong_is_said(
        self, tools: Path, given: dict[str, str], script: str, message: str
    ) -> None:
        for tool in ("gcloud", "databricks"):
            self.install(tools, tool, script)
        with pytest.raises(ConnectorError, match=message) as failed:
            resolve({"cli": given})
        assert "canary" not in failed.value.message

    def test_an_operator_can_forbid_them(self) -> None:
        with pytest.raises(ConnectorError, match=r"credentials\.cli"):
            resolve({"cli": {"provider": "aws"}}, enabled=False)
