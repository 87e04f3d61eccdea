"""Signing in with nothing, with a token, or with AWS's signatures."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from floecat.connectors.spi.auth import AwsKeys, OutgoingRequest
from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.security.secret import Secret


class NoAuthProvider:
    """Adds only the headers that the connector's configuration lists."""

    scheme: Final = "none"

    def __init__(self, auth: ResolvedAuth | None = None) -> None:
        self._headers = dict(auth.headers) if auth else {}

    def headers_for(self, request: OutgoingRequest) -> Mapping[str, str]:
        return {name: value.reveal() for name, value in self._headers.items()}

    def aws_keys(self) -> AwsKeys | None:
        return None


class BearerTokenAuthProvider:
    """Sends a token as it is."""

    scheme: Final = "bearer"

    def __init__(self, auth: ResolvedAuth) -> None:
        self._token = _required(auth, "token")
        self._headers = dict(auth.headers)

    def headers_for(self, request: OutgoingRequest) -> Mapping[str, str]:
        listed = {name: value.reveal() for name, value in self._headers.items()}
        return {**listed, "Authorization": f"Bearer {self._token.reveal()}"}

    def aws_keys(self) -> AwsKeys | None:
        return None


class AwsSigV4AuthProvider:
    """Signs each request with AWS keys, version 4."""

    scheme: Final = "aws-sigv4"

    def __init__(self, auth: ResolvedAuth) -> None:
        self._keys = AwsKeys(
            access_key_id=_required(auth, "access_key_id"),
            secret_access_key=_required(auth, "secret_access_key"),
            session_token=auth.secrets.get("session_token"),
            region=auth.options.get("region", ""),
        )
        self._service = auth.options.get("service", "glue")
        self._headers = dict(auth.headers)

    def headers_for(self, request: OutgoingRequest) -> Mapping[str, str]:
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - an extra
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415
        from botocore.credentials import Credentials  # noqa: PLC0415

        session_token = self._keys.session_token
        credentials = Credentials(
            self._keys.access_key_id.reveal(),
            self._keys.secret_access_key.reveal(),
            session_token.reveal() if session_token else None,
        )
        listed = {name: value.reveal() for name, value in self._headers.items()}
        headers = {"host": urlsplit(request.url).netloc, **listed}
        signed = AWSRequest(request.method, request.url, headers, request.body or None)
        SigV4Auth(credentials, self._service, self._region(request)).add_auth(signed)
        return {name: value for name, value in signed.headers.items() if name.lower() != "host"}

    def aws_keys(self) -> AwsKeys | None:
        return self._keys

    def _region(self, request: OutgoingRequest) -> str:
        if self._keys.region:
            return self._keys.region
        raise PermanentUpstreamError(
            f"signing a request to {urlsplit(request.url).hostname} needs a region: set the auth "
            "property region",
            UpstreamProblem.BAD_SPEC,
        )


def _required(auth: ResolvedAuth, name: str) -> Secret[str]:
    found = auth.secrets.get(name)
    if found is None:
        raise PermanentUpstreamError(
            f"signing in with {auth.scheme!r} needs credentials with a {name}",
            UpstreamProblem.BAD_SPEC,
        )
    return found
