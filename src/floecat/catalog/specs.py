"""What a connector's specification may hold, seen without contacting anyone."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from ai.floedb.floecat.catalog.catalog_pb2 import Catalog
from ai.floedb.floecat.catalog.namespace_pb2 import Namespace
from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.connector.connector_pb2 import (
    AuthConfig,
    Connector,
    ConnectorSpec,
    ConnectorState,
    ReconcilePolicy,
)
from floecat.catalog.callers import Caller, named_id
from floecat.catalog.capture_policies import check_capture_policy
from floecat.catalog.masks import copy_shared_fields
from floecat.catalog.records import CatalogStores, Records
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.errors import ConnectorError
from floecat.connectors.spi.mapper import ConnectorConfigMapper
from floecat.errors import InvalidArgumentError
from floecat.security.guard import HTTP

MAX_INTERVAL_SECONDS: Final = 366 * 86_400
MIN_INTERVAL_SECONDS: Final = 10
_LOOKS_SECRET: Final = re.compile(
    r"(?i)secret|passw(or)?d|passphrase|credential|private.?key|api.?key|access.?key|account.?key"
    r"|(?<!page.)(?<!next.)token(?!.?(endpoint|uri|url|type))|sas\b"
)
_SIGNATURE: Final = re.compile(r"(?i)sig|signature|x-amz-.*|x-goog-.*|code|key")
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e\t]*")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")


class ConnectorChecks:
    """Refuses specifications that could never work, or that carry secrets where they'd be seen."""

    def __init__(self, stores: CatalogStores, opener: ConnectorOpener) -> None:
        self._opener = opener
        self._destinations: Mapping[str, Records[Any]] = {
            "catalog_id": Records(stores, common_pb2.RK_CATALOG, Catalog),
            "namespace_id": Records(stores, common_pb2.RK_NAMESPACE, Namespace),
            "table_id": Records(stores, common_pb2.RK_TABLE, Table),
        }

    def check(self, caller: Caller, spec: ConnectorSpec) -> None:
        """Raise InvalidArgumentError naming the field, or NotFoundError for a destination."""
        if not spec.kind_name:
            raise _invalid("kind", "say what sort of catalog it is: spec.kind, or spec.kind_name")
        if spec.state == ConnectorState.CS_ERROR:
            raise _invalid("state", "CS_ERROR is set by Floecat alone: use CS_ACTIVE or CS_PAUSED")
        _check_uri(spec.uri)
        _check_no_secrets(spec.properties, "properties")
        _check_auth(spec.auth)
        _check_policy(spec.policy)
        check_capture_policy(spec.policy.capture, "spec.policy.capture")
        self._check_destination(caller, spec)
        connector = Connector()
        copy_shared_fields(spec, connector)
        try:
            self._opener.check(ConnectorConfigMapper().from_connector(connector, ResolvedAuth()))
        except ConnectorError as error:
            raise InvalidArgumentError(error.message, field="spec") from error

    def _check_destination(self, caller: Caller, spec: ConnectorSpec) -> None:
        destination = spec.destination
        for name, records in self._destinations.items():
            if destination.HasField(name):  # type: ignore[arg-type]  # all three are fields
                given = getattr(destination, name)
                found = named_id(caller, given, records.kind, f"spec.destination.{name}")
                records.get(caller.account_id, found)


def _check_uri(uri: str) -> None:
    try:
        parts = urlsplit(uri)
        password = parts.password
    except ValueError as error:
        raise _invalid("uri", "it isn't a URI") from error
    if password or (parts.username and parts.scheme in HTTP):
        raise _invalid("uri", "it carries a password: take it out and give it as credentials")
    for pair in parts.query.split("&"):
        name = pair.partition("=")[0]
        if _LOOKS_SECRET.search(name) or _SIGNATURE.fullmatch(name):
            raise _invalid("uri", "its query looks like a secret: give it as credentials")


def _check_no_secrets(properties: Mapping[str, str], field: str) -> None:
    for name in properties:
        if _LOOKS_SECRET.search(name):
            raise _invalid(
                field,
                f"the property {name!r} looks like a secret, and properties are shown to everyone "
                "who may read the connector: give it as auth.credentials or auth.headers",
            )


def _check_auth(auth: AuthConfig) -> None:
    _check_no_secrets(auth.properties, "auth.properties")
    for name, value in auth.headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise _invalid("auth.headers", "a header's name or value has characters it can't have")
    if auth.credentials.HasField("bearer"):
        token = auth.credentials.bearer.token
        if not token or not _HEADER_VALUE.fullmatch(token):
            raise _invalid("auth.credentials.bearer.token", "it is empty, or no header can hold it")


def _check_policy(policy: ReconcilePolicy) -> None:
    seconds = policy.interval.seconds + policy.interval.nanos / 1e9
    if policy.HasField("interval") and seconds < MIN_INTERVAL_SECONDS:
        raise _invalid("policy.interval", f"it is below {MIN_INTERVAL_SECONDS} seconds")
    if seconds > MAX_INTERVAL_SECONDS:
        raise _invalid("policy.interval", "it is longer than a year: set policy.enabled to false")
    if policy.HasField("keep_snapshots") and policy.keep_snapshots < 1:
        raise _invalid("policy.keep_snapshots", "at least one snapshot has to be kept")
    if policy.snapshots.WhichOneof("which") == "ids":
        raise _invalid("policy.snapshots.ids", "runs to come are about snapshots that come later")
    if policy.snapshots.HasField("latest_n") and policy.snapshots.latest_n < 1:
        raise _invalid("policy.snapshots.latest_n", "it must be at least 1")


def _invalid(field: str, problem: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"spec.{field}: {problem}", field=f"spec.{field}")
