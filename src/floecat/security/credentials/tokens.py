"""OAuth 2 client credentials for a token, at the endpoint that the connector names."""

from datetime import timedelta
from typing import Any, Final

import httpx

from ai.floedb.floecat.connector.connector_pb2 import ClientCredentials
from floecat.clock import Clock, utc_now
from floecat.connectors.failures import connector_error, of_status
from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.errors import FloecatError
from floecat.security.guard import OutboundGuard
from floecat.security.http import GuardedClient
from floecat.security.secret import Secret

_MAX_ANSWER: Final = 1024 * 1024
_TIMEOUT: Final = timedelta(seconds=15)


class TokenEndpoint:
    """Asks token endpoints. The guard judges each before anything is sent."""

    def __init__(self, guard: OutboundGuard, clock: Clock = utc_now) -> None:
        self._guard = guard
        self._clock = clock

    def exchange(self, given: ClientCredentials) -> ResolvedAuth:
        """A token for a client's id and secret."""
        form = {
            "grant_type": "client_credentials",
            "client_id": given.client_id,
            "client_secret": given.client_secret,
        }
        if given.scopes:
            form["scope"] = " ".join(given.scopes)
        asked_at = self._clock()
        answer = self._post(given.endpoint, form)
        token = answer.get("access_token")
        if not isinstance(token, str) or not token:
            raise _unusable("its answer has no access_token")
        lifetime = answer.get("expires_in")
        lasts = isinstance(lifetime, int | float) and 0 < lifetime < 10**9
        return ResolvedAuth(
            scheme="bearer",
            secrets={"token": Secret(token)},
            expires_at=asked_at + timedelta(seconds=float(lifetime)) if lasts else None,  # type: ignore[arg-type]  # a number, if it lasts
        )

    def _post(self, url: str, form: dict[str, str]) -> dict[str, Any]:
        try:
            with GuardedClient(self._guard, timeout=_TIMEOUT, max_bytes=_MAX_ANSWER) as client:
                response = client.request("POST", url, data=form)
        except (httpx.HTTPError, OSError, FloecatError) as error:
            raise connector_error(error, "the token endpoint") from error
        if response.status_code in {400, 401}:
            raise PermanentUpstreamError(
                f"the token endpoint doesn't accept the client's id and secret "
                f"({_error_of(response)}): check them, and the scopes",
                UpstreamProblem.UNAUTHENTICATED,
            )
        if response.status_code != httpx.codes.OK:
            raise of_status(response.status_code, "the token endpoint")
        return _json(response)


def _json(response: httpx.Response) -> dict[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise _unusable("its answer isn't a JSON object")
    return answer


def _error_of(response: httpx.Response) -> str:
    """OAuth's own error code; nothing else of the answer, which may repeat what was sent."""
    try:
        code = response.json().get("error")
    except (ValueError, AttributeError):
        code = None
    known = isinstance(code, str) and code.isascii() and code.replace("_", "").isalpha()
    return code[:40] if known else str(response.status_code)


def _unusable(why: str) -> PermanentUpstreamError:
    return PermanentUpstreamError(
        f"the token endpoint isn't one for client credentials: {why}; check its URL",
        UpstreamProblem.BAD_SPEC,
    )
