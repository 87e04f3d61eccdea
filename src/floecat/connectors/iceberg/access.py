"""FileAccess for Iceberg's files, with what a catalog gives out for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from floecat.connectors.access import arrow_options, is_region
from floecat.connectors.iceberg.documents import Document, texts
from floecat.connectors.spi.access import FileAccess
from floecat.security.secret import Secret

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


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
        options=arrow_options(endpoint) if endpoint else base.options,
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
    return found if is_region(found) else ""


def _expiry(milliseconds: str) -> datetime | None:
    if not milliseconds.isdecimal():
        return None
    return _EPOCH + timedelta(milliseconds=int(milliseconds[:15]))
