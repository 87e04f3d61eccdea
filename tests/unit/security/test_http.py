"""The guarded client against real servers on this machine."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address

import httpx
import pytest

from floecat.security.guard import AddressNotAllowedError, OutboundGuard, OutboundRules
from floecat.security.http import GuardedClient

RULES = OutboundRules(private_addresses=True)


class Site(BaseHTTPRequestHandler):
    """Answers with the headers it got; `/to?…` redirects, `/endless` doesn't stop."""

    seen: list[dict[str, str]]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(307)
        self.send_header("Location", self.path.partition("?")[2])
        self.end_headers()

    def do_GET(self) -> None:
        self.server.seen.append({k.lower(): v for k, v in self.headers.items()})  # type: ignore[attr-defined]
        if self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path[4:])
            self.end_headers()
        elif self.path == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                pass
        else:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def sites() -> Iterator[list[ThreadingHTTPServer]]:
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Site) for _ in range(2)]
    for server in servers:
        server.seen = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


def url(server: ThreadingHTTPServer, path: str = "/", host: str = "127.0.0.1") -> str:
    return f"http://{host}:{server.server_port}{path}"


def headers_at(server: ThreadingHTTPServer) -> dict[str, str]:
    return server.seen[-1]  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def client() -> Iterator[GuardedClient]:
    with GuardedClient(OutboundGuard(RULES), max_bytes=1_000_000) as client:
        yield client


def test_an_answer_comes_back(client: GuardedClient, sites: list[ThreadingHTTPServer]) -> None:
    answer = client.request("GET", url(sites[0]), headers={"Authorization": "Bearer t"})
    assert (answer.status_code, answer.content) == (200, b"hello")
    assert headers_at(sites[0])["authorization"] == "Bearer t"


def test_a_redirect_within_the_host_keeps_credentials(
    client: GuardedClient, sites: list[ThreadingHTTPServer]
) -> None:
    client.request("GET", url(sites[0], "/to?/there"), headers={"Authorization": "Bearer t"})
    assert headers_at(sites[0])["authorization"] == "Bearer t"


def test_a_redirect_to_another_host_loses_them(
    client: GuardedClient, sites: list[ThreadingHTTPServer]
) -> None:
    secrets = {"Authorization": "Bearer t", "X-Api-Key": "k"}
    answer = client.request("GET", url(sites[0], f"/to?{url(sites[1])}"), headers=secrets)
    assert answer.content == b"hello"
    assert not {"authorization", "x-api-key"} & headers_at(sites[1]).keys()


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/latest/", "file:///etc/passwd", "http://[fe80::1]/", "ftp://x/"],
)
def test_a_redirect_to_where_nobody_may_go_is_refused(
    client: GuardedClient, sites: list[ThreadingHTTPServer], target: str
) -> None:
    with pytest.raises((AddressNotAllowedError, httpx.UnsupportedProtocol)):
        client.request("GET", url(sites[0], f"/to?{target}"))


def test_a_body_isnt_taken_to_another_host(
    client: GuardedClient, sites: list[ThreadingHTTPServer]
) -> None:
    target = url(sites[0], f"/moved?{url(sites[1])}")
    answer = client.request("POST", target, data={"client_secret": "canary"})
    assert answer.status_code == 307
    assert sites[1].seen == []  # type: ignore[attr-defined]


def test_redirects_end(client: GuardedClient, sites: list[ThreadingHTTPServer]) -> None:
    again = url(sites[0], "/to?")
    with pytest.raises(httpx.TooManyRedirects):
        client.request("GET", again + again * 8)


def test_an_endless_answer_ends(client: GuardedClient, sites: list[ThreadingHTTPServer]) -> None:
    with pytest.raises(httpx.DecodingError, match="longer than"):
        client.request("GET", url(sites[0], "/endless"))


def test_the_judged_address_is_the_one_connected_to(sites: list[ThreadingHTTPServer]) -> None:
    """The name is good when it is judged, and would lead to a metadata service a moment later."""
    asked: list[str] = []

    def rebinding(host: str, _port: int) -> list[object]:
        asked.append(host)
        return [ip_address("127.0.0.1")]

    guard = OutboundGuard(RULES, rebinding)  # type: ignore[arg-type]
    with GuardedClient(guard) as client:
        target = url(sites[0], host="no-such-name.example.com")
        assert client.request("GET", target).content == b"hello"
    assert set(asked) == {"no-such-name.example.com"}
    assert headers_at(sites[0])["host"].startswith("no-such-name.example.com")


def test_proxies_of_the_environment_are_ignored(
    sites: list[ThreadingHTTPServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with GuardedClient(OutboundGuard(RULES)) as client:
        assert client.request("GET", url(sites[0])).content == b"hello"
