"""Iceberg's REST catalog protocol, as far as reading needs it."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, unquote

import httpx

from floecat.connectors.failures import connector_error, of_status, parse_retry_after
from floecat.connectors.iceberg.access import vended_access
from floecat.connectors.iceberg.catalog import (
    Located,
    no_such_namespace,
    no_such_table,
    no_such_view,
)
from floecat.connectors.iceberg.documents import (
    Document,
    find,
    get,
    objects,
    parse_document,
    texts,
)
from floecat.connectors.iceberg.errors import MALFORMED, understanding
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.auth import AuthProvider, OutgoingRequest
from floecat.connectors.spi.errors import (
    ConnectorError,
    PermanentUpstreamError,
    UpstreamGoneError,
    UpstreamProblem,
)
from floecat.connectors.spi.records import Namespace
from floecat.errors import FloecatError
from floecat.security.http import GuardedClient

_SEPARATOR: Final = "\x1f"
_MAX_PAGES: Final = 100_000
_MAX_DEPTH: Final = 32
_CONFIG: Final = "config"
_EXPIRED: Final = frozenset({"NotAuthorizedException", "AuthenticationTimeoutException"})
_DOTS: Final = frozenset({".", ".."})
_HEADER: Final = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
_ERROR_TYPE: Final = re.compile(r"[A-Z][A-Za-z]{2,60}(?:Exception|Error)")
_DELEGATION: Final = {"X-Iceberg-Access-Delegation": "vended-credentials"}


class RestCatalog:
    """A server that speaks the protocol. It is asked for its configuration first, once."""

    def __init__(
        self,
        uri: str,
        client: GuardedClient,
        auth: AuthProvider,
        access: FileAccess,
        options: Mapping[str, str],
    ) -> None:
        self._base = uri.rstrip("/")
        self._client = client
        self._auth = auth
        self._access = access
        self._options = options
        warehouse = options.get("warehouse", "")
        answer = self._get(_CONFIG, {"warehouse": warehouse} if warehouse else {})
        with understanding(self._base):
            merged = texts(answer, "defaults") | dict(options) | texts(answer, "overrides")
            self._endpoints: list[Any] | None = find(answer, "endpoints", list)
        self._config = merged
        separator = merged.get("namespace-separator", quote(_SEPARATOR, safe=""))
        self._separator = quote(separator, safe="%")
        prefix = merged.get("prefix", "")
        self._prefix = f"{self._below_base(prefix)}/" if prefix else ""

    def namespaces(self) -> Iterable[Namespace]:
        return self._below(())

    def tables(self, namespace: Namespace) -> Iterable[str]:
        return self._names(f"{self._namespace(namespace)}/tables", namespace)

    def views(self, namespace: Namespace) -> Iterable[str]:
        if not self._offers("GET /v1/{prefix}/namespaces/{namespace}/views"):
            return []
        return self._names(f"{self._namespace(namespace)}/views", namespace)

    def find_table(self, namespace: Namespace, name: str) -> Located:
        place = f"{self._namespace(namespace)}/tables/{_segment(name)}"
        answer = self._get_or(place, no_such_table(namespace, name))
        config = self._config | texts(answer, "config")
        metadata: Document = get(answer, "metadata", dict)
        location = find(answer, "metadata-location", str) or ""
        files = location or find(metadata, "location", str) or ""
        return Located(
            metadata_location=location,
            access=vended_access(
                self._access, config, objects(answer, "storage-credentials"), files
            ),
            document=metadata,
        )

    def revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        """Only loading a table would tell, and that is all that describing it costs."""
        return {}

    def find_view(self, namespace: Namespace, name: str) -> Located:
        place = f"{self._namespace(namespace)}/views/{_segment(name)}"
        answer = self._get_or(place, no_such_view(namespace, name))
        return Located(
            metadata_location=find(answer, "metadata-location", str) or "",
            access=self._access,
            document=get(answer, "metadata", dict),
        )

    def close(self) -> None:
        self._client.close()

    def _below(self, parent: Namespace) -> Iterator[Namespace]:
        """A namespace's children, and theirs. Servers without nesting answer with the top again."""
        if len(parent) >= _MAX_DEPTH:
            return
        query = {"parent": unquote(self._separator).join(parent)} if parent else {}
        place = f"{self._prefix}namespaces"
        try:
            with understanding(self._base):
                pages = self._pages(place, "namespaces", query)
                found = [tuple(str(part) for part in parts) for parts in pages]
        except UpstreamGoneError:
            return
        for namespace in found:
            if len(namespace) == len(parent) + 1 and namespace[:-1] == parent:
                yield namespace
                yield from self._below(namespace)

    def _names(self, place: str, namespace: Namespace) -> list[str]:
        try:
            with understanding(self._base):
                names = [str(found["name"]) for found in self._pages(place, "identifiers", {})]
        except UpstreamGoneError:
            raise no_such_namespace(namespace) from None
        if not names:
            self._require_namespace(namespace)
        return names

    def _require_namespace(self, namespace: Namespace) -> None:
        """Some servers list nothing where there is no such namespace, rather than say so."""
        if self._offers("GET /v1/{prefix}/namespaces/{namespace}"):
            self._get_or(self._namespace(namespace), no_such_namespace(namespace))

    def _pages(self, place: str, key: str, query: Mapping[str, str]) -> Iterator[Any]:
        token = ""
        seen: set[str] = set()
        while True:
            answer = self._get(place, {**query, "pageToken": token})
            yield from find(answer, key, list) or ()
            token = find(answer, "next-page-token", str) or ""
            if not token:
                return
            if token in seen or len(seen) > _MAX_PAGES:
                raise PermanentUpstreamError(f"{self._base} repeats its pages without an end")
            seen.add(token)

    def _get_or(self, place: str, gone: UpstreamGoneError) -> Document:
        try:
            return self._get(place, {})
        except UpstreamGoneError:
            raise gone from None

    def _get(self, place: str, query: Mapping[str, str]) -> Document:
        url = str(httpx.URL(f"{self._base}/v1/{place}", params=dict(query)))
        headers = self._headers(url)
        try:
            response = self._client.request("GET", url, headers=headers)
        except (httpx.HTTPError, FloecatError, OSError) as error:
            raise connector_error(error, self._base) from error
        if response.status_code != HTTPStatus.OK:
            raise self._refused(response, place, headers)
        try:
            return parse_document(response.content)
        except MALFORMED as error:
            raise PermanentUpstreamError(
                f"{self._base} answered with something other than JSON: is it a REST catalog?"
            ) from error

    def _headers(self, url: str) -> dict[str, str]:
        headers = {"Accept": "application/json", **_DELEGATION}
        try:
            headers |= self._auth.headers_for(OutgoingRequest("GET", url, headers))
        except ValueError:
            raise _unsendable() from None
        if not all(_HEADER.fullmatch(value) for value in headers.values()):
            raise _unsendable()
        return headers

    def _refused(
        self, response: httpx.Response, place: str, sent: Mapping[str, str]
    ) -> ConnectorError:
        """What the server says in its own words isn't passed on: it may repeat what it was sent."""
        kind = _kind_of_error(response)
        if response.status_code == HTTPStatus.NOT_FOUND and place != _CONFIG:
            return UpstreamGoneError(f"{self._base}: no such relation")
        status = HTTPStatus.UNAUTHORIZED if kind in _EXPIRED else response.status_code
        retry_after = parse_retry_after(response.headers.get("Retry-After", ""))
        return of_status(status, self._base, detail=_shown(kind, sent), retry_after=retry_after)

    def _namespace(self, namespace: Namespace) -> str:
        parts = self._separator.join(_segment(part) for part in namespace)
        return f"{self._prefix}namespaces/{parts}"

    def _below_base(self, prefix: str) -> str:
        """Servers write it as it stands in a path: what is encoded already stays so."""
        if _DOTS & set(unquote(prefix).split("/")):
            raise PermanentUpstreamError(f"{self._base} names a prefix that leads out of its path")
        return "/".join(quote(part, safe="%") for part in prefix.split("/"))

    def _offers(self, endpoint: str) -> bool:
        """Servers that don't list what they offer, offer what is asked for here."""
        return self._endpoints is None or endpoint in self._endpoints


def _segment(name: str) -> str:
    """A name as one part of a path."""
    return name.replace(".", "%2E") if name in _DOTS else quote(name, safe="")


def _kind_of_error(response: httpx.Response) -> str:
    """What the server calls what went wrong."""
    try:
        error: Document = find(parse_document(response.content), "error", dict) or {}
        return find(error, "type", str) or ""
    except MALFORMED:
        return ""


def _shown(kind: str, sent: Mapping[str, str]) -> str:
    """The error's type if it is a plain word, and none that we sent."""
    repeats = any(kind in value or value in kind for value in sent.values())
    return kind if _ERROR_TYPE.fullmatch(kind) and not repeats else ""


def _unsendable() -> PermanentUpstreamError:
    return PermanentUpstreamError(
        "the credentials hold characters that a header can't have: check them for line breaks, "
        "spaces at the end and letters beyond ASCII",
        UpstreamProblem.BAD_SPEC,
    )
