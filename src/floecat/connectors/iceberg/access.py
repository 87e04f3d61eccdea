"""FileAccess for Iceberg's files: from the connector's own keys, or from what a catalog vends."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from floecat.connectors.iceberg.documents import Document, texts
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.auth import AuthProvider
from floecat.security.guard import OutboundRules
from floecat.security.secret import Secret

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_REGION: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def own_access(rules: OutboundRules, auth: AuthProvider, options: Mapping[str, str]) -> FileAccess:
    """With the rights of the connector's credentials."""
    keys = auth.aws_keys()
    access = FileAccess(
        rules=rules,
        endpoint=options.get("s3.endpoint") or None,
        region=options.get("s3.region") or (keys.region if keys else "") or None,
        options=_options(options),
    )
    if keys is None:
        return access
    return replace(
        access,
        access_key_id=keys.access_key_id,
        secret_access_key=keys.secret_access_key,
        session_token=keys.session_token,
    )


def vended_access(
    base: FileAccess,
    config: Mapping[str, str],
    credentials: Sequence[Document],
    location: str,
) -> FileAccess:
    """With credentials that the catalog gives out for one table, where it does.

    Where it doesn't, the connector's own are used, and those go to the connector's own endpoint
    only: whoever answers must not choose who gets them.
    """
    merged = {**config, **_best(credentials, location)}
    access = replace(base, region=_region(merged) or base.region)
    key, secret = merged.get("s3.access-key-id"), merged.get("s3.secret-access-key")
    if not key or not secret:
        return access
    endpoint = merged.get("s3.endpoint")
    token = merged.get("s3.session-token")
    return replace(
        access,
        endpoint=endpoint or base.endpoint,
        options=_options(merged) if endpoint else base.options,
        access_key_id=Secret(key),
        secret_access_key=Secret(secret),
        session_token=Secret(token) if token else None,
        expires_at=_expiry(merged.get("s3.session-token-expires-at-ms", "")),
    )


def _best(credentials: Sequence[Document], location: str) -> dict[str, str]:
    """The credentials for the longest prefix of a location."""
    matching = [c for c in credentials if location.startswith(str(c.get("prefix", "")))]
    if not matching:
        return {}
    return texts(max(matching, key=lambda c: len(str(c.get("prefix", "")))), "config")


def _region(options: Mapping[str, str]) -> str:
    """It becomes a part of the host's name where there is no endpoint: only a plain word may."""
    found = options.get("s3.region") or options.get("client.region") or ""
    return found if _REGION.fullmatch(found) else ""


def _options(options: Mapping[str, str]) -> dict[str, str]:
    """What Arrow has to be told besides."""
    endpoint = options.get("s3.endpoint", "")
    return {"scheme": "http"} if endpoint.startswith("http://") else {}


def _expiry(milliseconds: str) -> datetime | None:
    if not milliseconds.isdecimal():
        return None
    return _EPOCH + timedelta(milliseconds=int(milliseconds[:15]))
