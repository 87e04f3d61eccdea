"""The outbound guard: every address that a tenant or an upstream names passes here first.

Names are resolved once, every address they stand for is judged, and where the socket is ours the
connection goes to an address that was judged: a name that changes its mind in between gains
nothing.
"""

import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from floecat.errors import PermissionDeniedError, UnavailableError
from floecat.security.addresses import Address, refusal

HTTP: Final = frozenset({"http", "https"})
OBJECT_STORES: Final = frozenset(
    {"s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs"}
)
FILE: Final = frozenset({"file", ""})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "thrift": 9083, "postgresql": 5432}
_HOST: Final = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}")
_FILE_URI: Final = re.compile(
    r"(?:file:(?://(?P<host>[^/]*))?)?(?P<path>/[^\x00-\x1f]*)", re.IGNORECASE
)
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f\\]")

Resolver = Callable[[str, int], Sequence[Address]]


class AddressNotAllowedError(PermissionDeniedError):
    """Floecat must not talk to this address. The message says which setting would allow it."""

    default_reason = "ADDRESS_NOT_ALLOWED"


class NameNotResolvedError(UnavailableError):
    """No address for a host's name."""

    default_reason = "NAME_NOT_RESOLVED"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRules:
    """What may be reached."""

    private_addresses: bool = False
    file_roots: tuple[Path, ...] = ()
    proxy: str | None = None
    """Where libraries with sockets of their own are sent through."""
    aws_default_chain: bool = False
    """Whether the server's own AWS credentials may be used for a connector without any."""


@dataclass(frozen=True, slots=True)
class Approved:
    """A host that may be talked to, at these addresses only."""

    host: str
    port: int
    addresses: tuple[Address, ...]


def resolve(host: str, port: int) -> Sequence[Address]:
    """The addresses of a host, from the system."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NameNotResolvedError(
            f"the host name {host!r} can't be resolved: check its spelling and your DNS"
        ) from error
    return list(dict.fromkeys(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))


class OutboundGuard:
    """Judges URLs, hosts and paths by the rules."""

    def __init__(self, rules: OutboundRules, resolver: Resolver = resolve) -> None:
        self.rules = rules
        self._resolve = resolver

    def check_url(self, url: str, schemes: frozenset[str] = HTTP) -> Approved:
        """Approve a URL with a host, or say why not."""
        parts = _split(url)
        if parts.scheme.lower() not in schemes:
            allowed = ", ".join(sorted(schemes))
            raise _refused(url, f"its scheme isn't one of {allowed}")
        if parts.username or parts.password:
            raise _refused(url, "it carries a user or password: give credentials apart from it")
        host, port = _host_and_port(url, parts)
        return self.check_host(host, port)

    def check_host(self, host: str, port: int) -> Approved:
        """Approve a host, or say why not."""
        if not _HOST.fullmatch(host):
            raise _refused(host, "it isn't a plain host name or address")
        addresses = self._addresses(host.rstrip("."), port)
        for address in addresses:
            reason = refusal(address, allow_private=self.rules.private_addresses)
            if reason:
                shown = host if host == str(address) else f"{host} ({address})"
                raise _refused(shown, reason)
        return Approved(host, port, addresses)

    def check_path(self, uri: str) -> Path:
        """Approve a `file:` URI or a path on this machine: the real place it leads to.

        Lakehouse metadata writes paths as they are, so nothing in them is unquoted.
        """
        found = _FILE_URI.fullmatch(uri)
        if found is None:
            raise _refused(uri, "it isn't an absolute path, or a file: URI with one")
        if found["host"] not in {None, "", "localhost"}:
            raise _refused(uri, "a file: URI can't name another machine")
        place = Path(found["path"]).resolve()
        if not any(place.is_relative_to(root.resolve()) for root in self.rules.file_roots):
            raise _refused(uri, "it isn't below a folder of the setting outbound.file-roots")
        return place

    def check(self, uri: str) -> None:
        """Approve whatever a URI is: a file below the roots, an object of a store, or a URL.

        Object stores are reached at their endpoint, which is checked as a URL of its own.
        """
        scheme = scheme_of(uri)
        if scheme in FILE:
            self.check_path(uri)
        elif scheme not in OBJECT_STORES:
            self.check_url(uri)

    def connect(self, host: str, port: int, timeout: float | None = None) -> socket.socket:
        """A socket to a host, at an address that was approved."""
        approved = self.check_host(host, port)
        failure: OSError | None = None
        for address in approved.addresses:
            try:
                return socket.create_connection((str(address), port), timeout)
            except OSError as error:
                failure = error
        raise failure or OSError(f"{host} has no address")

    def _addresses(self, host: str, port: int) -> tuple[Address, ...]:
        literal = _literal(host)
        found = (literal,) if literal else tuple(self._resolve(host, port))
        if not found:
            raise NameNotResolvedError(f"the host name {host!r} has no address")
        return found


def scheme_of(uri: str) -> str:
    """The scheme of a URI in lower case; empty for a plain path."""
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", uri)
    return found[1].lower() if found else ""


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        pass
    # What looks like a number isn't left to the system, which reads 0x7f.1 and 2130706433 as
    # addresses: such hosts have no business in a configuration.
    last = host.rpartition(".")[2]
    if last.isdigit() or re.fullmatch(r"0[xX][0-9a-fA-F]*", last):
        raise _refused(host, "it is an address written in an unusual way")
    return None


def _split(url: str) -> SplitResult:
    if _FORBIDDEN.search(url.strip()) or url != url.strip():
        raise _refused(url, "it holds spaces, backslashes or control characters")
    try:
        return urlsplit(url)
    except ValueError as error:
        raise _refused(url, "it isn't a URL") from error


def _host_and_port(url: str, parts: SplitResult) -> tuple[str, int]:
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _refused(url, "its port isn't a number from 1 to 65535") from error
    if not host:
        raise _refused(url, "it names no host")
    if port == 0:
        raise _refused(url, "its port isn't a number from 1 to 65535")
    return host, port or _DEFAULT_PORTS.get(parts.scheme.lower(), 443)


def _refused(what: str, reason: str) -> AddressNotAllowedError:
    return AddressNotAllowedError(f"{_without_password(what)!r} may not be reached: {reason}")


def _without_password(text: str) -> str:
    """The part of a URL that can be shown: what is before an @ may be a secret, a query too."""
    shown = re.sub(r"(//)[^/?#]*@", r"\1…@", text[:300])
    return re.sub(r"\?.*", "?…", shown)
