"""Where Floecat may go and where not. Nothing here opens a connection but the last tests."""

import socket
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest

from floecat.security.addresses import Address
from floecat.security.guard import (
    AddressNotAllowedError,
    NameNotResolvedError,
    OutboundGuard,
    OutboundRules,
)

NAMES = {
    "catalog.example.com": ["93.184.216.34"],
    "internal.example.com": ["10.1.2.3"],
    "metadata.google.internal": ["169.254.169.254"],
    "half.example.com": ["93.184.216.34", "169.254.169.254"],
    "six.example.com": ["2606:2800:220:1:248:1893:25c8:1946"],
    "localtest.me": ["127.0.0.1"],
}


def resolver(host: str, _port: int) -> Sequence[Address]:
    return [ip_address(text) for text in NAMES.get(host.lower(), [])]


STRICT = OutboundGuard(OutboundRules(), resolver)
DEV = OutboundGuard(OutboundRules(private_addresses=True), resolver)

ALWAYS_REFUSED = [
    # Where clouds hand out credentials, in every spelling.
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/credentials",
    "http://169.254.170.23/v1/credentials",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[fd20:ce::254]/computeMetadata/v1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://168.63.129.16/machine",
    "http://192.0.0.192/opc/v2/instance/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.INTERNAL/",
    "http://metadata.google.internal./",
    "http://half.example.com/",
    "http://169.254.1.1/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::169.254.169.254]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[::ffff:0:a9fe:a9fe]/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://169.254.169.254.:80/",
    "http://1.1.1.1 @169.254.169.254/",
    "http://user@169.254.169.254/",
    "http://catalog.example.com@169.254.169.254/",
    "http://catalog.example.com:80@169.254.169.254/",
    "http://169.254.169.254#@catalog.example.com/",
    "http://169.254.169.254\\@catalog.example.com/",
    "http://catalog.example.com\\@169.254.169.254/",
    "http://１６９.254.169.254/",
    "http://169。254。169。254/",
    "http://①⑥⑨.254.169.254/",
    "http://%31%36%39.254.169.254/",
    "http://169.254.169.254%2f@catalog.example.com/",
    # Addresses of nobody, or of everybody.
    "http://0.0.0.0:9100/",
    "http://0/",
    "http://0.1.2.3/",
    "http://[::]/",
    "http://255.255.255.255/",
    "http://224.0.0.1/",
    "http://[ff02::1]/",
    # Schemes that aren't asked for.
    "file:///etc/passwd",
    "gopher://catalog.example.com/",
    "ftp://catalog.example.com/",
    "dict://catalog.example.com:11211/",
    "ldap://catalog.example.com/",
    "jar:http://catalog.example.com!/",
    "javascript:alert(1)",
    "data:text/plain,hello",
    "//catalog.example.com/",
    "catalog.example.com",
    "",
    # What isn't a URL, or wants to be two.
    "http://",
    "http:///path",
    "http://:80/",
    "http://catalog.example.com:0/",
    "http://catalog.example.com:99999/",
    "http://catalog.example.com:port/",
    "http://catalog.example.com\r\nHost: evil/",
    "http://catalog.example.com\t/",
    " http://catalog.example.com/",
    "http://[::1/",
    "http://cata log.example.com/",
    "http://user:password@catalog.example.com/",
    "http://" + "a" * 300 + ".example.com/",
]
PRIVATE = [
    "http://127.0.0.1:9100/",
    "http://localtest.me/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://[fd12:3456::1]/",
    "http://[fec0::1]/",
    "http://internal.example.com/",
    "http://198.18.0.1/",
]
UNUSUAL_LOOPBACK = ["http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://017700000001/"]


def test_there_are_many() -> None:
    assert len(set(ALWAYS_REFUSED)) >= 60


@pytest.mark.parametrize("guard", [STRICT, DEV], ids=["strict", "dev"])
@pytest.mark.parametrize("url", ALWAYS_REFUSED)
def test_hostile_urls_are_refused_without_a_connection(
    guard: OutboundGuard, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise AssertionError("something was contacted")

    monkeypatch.setattr(socket.socket, "connect", nobody)
    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    with pytest.raises(AddressNotAllowedError):
        guard.check_url(url)


@pytest.mark.parametrize("url", [*PRIVATE, *UNUSUAL_LOOPBACK])
def test_private_addresses_are_refused_by_default(url: str) -> None:
    with pytest.raises(AddressNotAllowedError):
        STRICT.check_url(url)


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_can_be_allowed(url: str) -> None:
    assert DEV.check_url(url).addresses


@pytest.mark.parametrize("url", UNUSUAL_LOOPBACK)
def test_unusual_spellings_are_refused_even_then(url: str) -> None:
    with pytest.raises(AddressNotAllowedError, match="unusual"):
        DEV.check_url(url)


def test_public_hosts_are_approved_at_their_addresses() -> None:
    approved = STRICT.check_url("https://catalog.example.com/v1/config?x=1")
    assert (approved.host, approved.port) == ("catalog.example.com", 443)
    assert [str(address) for address in approved.addresses] == ["93.184.216.34"]
    assert STRICT.check_url("http://six.example.com:8181").port == 8181


def test_an_unknown_name_isnt_called_forbidden() -> None:
    with pytest.raises(NameNotResolvedError, match="nowhere"):
        STRICT.check_url("http://nowhere.example.com/")


def test_a_refusal_shows_no_password() -> None:
    with pytest.raises(AddressNotAllowedError) as refused:
        STRICT.check_url("https://me:canary-77@catalog.example.com/?token=canary-77")
    assert "canary" not in refused.value.message


class TestFiles:
    @pytest.fixture
    def guard(self, tmp_path: Path) -> OutboundGuard:
        (tmp_path / "lake").mkdir()
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "secret").touch()
        (tmp_path / "lake" / "link").symlink_to(tmp_path / "other")
        (tmp_path / "lakeside").mkdir()
        return OutboundGuard(OutboundRules(file_roots=(tmp_path / "lake",)), resolver)

    def test_below_the_roots_is_fine(self, guard: OutboundGuard, tmp_path: Path) -> None:
        inside = tmp_path / "lake" / "k=a b?c#d" / "part%2F.parquet"
        assert guard.check_path(f"file://{inside}") == inside
        assert guard.check_path(f"file:{inside}") == inside
        assert guard.check_path(f"{inside}") == inside
        assert guard.check_path(str(tmp_path / "lake")) == tmp_path / "lake"
        assert guard.check_path(f"file://localhost{tmp_path}/lake/x") == tmp_path / "lake" / "x"

    @pytest.mark.parametrize(
        "uri",
        [
            "file:///etc/passwd",
            "/etc/passwd",
            "file://{root}/lake/../other/secret",
            "FILE://{root}/lake/../../etc/passwd",
            "{root}/lake/../other/secret",
            "file://{root}/lake/link/secret",
            "file://{root}/lakeside/x",
            "file://{root}",
            "file://server/share/x",
            "file://169.254.169.254/x",
            "file://{root}/lake/\x00",
            "file:relative/x",
            "relative/x",
            "file:",
            "s3://bucket/key",
            "http://localhost{root}/lake",
        ],
    )
    def test_elsewhere_is_refused(self, guard: OutboundGuard, tmp_path: Path, uri: str) -> None:
        with pytest.raises(AddressNotAllowedError):
            guard.check_path(uri.replace("{root}", str(tmp_path)))

    def test_without_roots_there_are_no_files(self, tmp_path: Path) -> None:
        with pytest.raises(AddressNotAllowedError, match=r"outbound\.file-roots"):
            STRICT.check_path(str(tmp_path))


def test_a_name_that_changes_its_mind_gains_nothing() -> None:
    """The address that was judged is the one connected to, even if the next answer differs."""
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    guard = OutboundGuard(
        OutboundRules(private_addresses=True),
        lambda _host, _port: [ip_address(text) for text in next(answers)],
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with guard.connect("rebinding.example.com", port, timeout=5) as connected:
            assert connected.getpeername() == ("127.0.0.1", port)
        with pytest.raises(AddressNotAllowedError):
            guard.connect("rebinding.example.com", port, timeout=5)
