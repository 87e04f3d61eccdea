"""FileAccess with the rights of a connector's own credentials."""

import re
from collections.abc import Mapping
from typing import Final

from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.auth import AuthProvider
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorOption
from floecat.security.guard import OutboundRules

S3_OPTIONS: Final = (
    ConnectorOption("s3.endpoint", "URL of an S3-compatible store; AWS's own without it"),
    ConnectorOption("s3.region", "region of the buckets; by default that of the credentials"),
)
"""What connectors whose tables may lie in S3 understand."""

_REGION: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def own_access(rules: OutboundRules, auth: AuthProvider, options: Mapping[str, str]) -> FileAccess:
    """How a connector opens its tables' files, where nobody gives it other credentials."""
    keys = auth.aws_keys()
    endpoint = options.get("s3.endpoint") or None
    return FileAccess(
        rules=rules,
        endpoint=endpoint,
        region=options.get("s3.region") or (keys.region if keys else "") or None,
        options=arrow_options(endpoint),
        access_key_id=keys.access_key_id if keys else None,
        secret_access_key=keys.secret_access_key if keys else None,
        session_token=keys.session_token if keys else None,
    )


def check_s3_options(options: Mapping[str, str]) -> None:
    """Refuse a region that isn't one: without an endpoint it becomes a part of the host's name."""
    region = options.get("s3.region", "")
    if region and not is_region(region):
        raise PermanentUpstreamError(
            f"s3.region {region!r} isn't the name of a region", UpstreamProblem.BAD_SPEC
        )


def is_region(text: str) -> bool:
    """Whether a text is a plain word, as regions are."""
    return _REGION.fullmatch(text) is not None


def arrow_options(endpoint: str | None) -> dict[str, str]:
    """What Arrow has to be told of an endpoint besides."""
    return {"scheme": "http"} if endpoint and endpoint.startswith("http://") else {}
