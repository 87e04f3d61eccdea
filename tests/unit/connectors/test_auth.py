"""Signing in: what is added to a request."""

import pickle
from collections.abc import Mapping

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from floecat.connectors.auth.registry import AuthProviders
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.auth import OutgoingRequest
from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.errors import PermanentUpstreamError
from floecat.security.secret import Secret

REQUEST = OutgoingRequest("GET", "https://glue.eu-west-1.amazonaws.com/iceberg/v1/config?a=b")
HEADERS = {"X-Tenant": Secret("me")}
PROVIDERS = AuthProviders.from_entry_points()


def auth(scheme: str, **secrets: str) -> ResolvedAuth:
    hidden = {name: Secret(value) for name, value in secrets.items()}
    options = {"region": "eu-west-1", "service": "glue"}
    return ResolvedAuth(scheme=scheme, secrets=hidden, headers=HEADERS, options=options)


def headers(resolved: ResolvedAuth) -> Mapping[str, str]:
    return PROVIDERS.create(resolved).headers_for(REQUEST)


def test_ours_are_found_by_their_entry_points() -> None:
    assert {"none", "bearer", "aws-sigv4"} <= set(PROVIDERS.schemes())
    for scheme in ("none", ""):
        assert PROVIDERS.create(ResolvedAuth(scheme=scheme)).scheme == "none"


def test_nothing_adds_only_the_headers_listed() -> None:
    assert headers(auth("none")) == {"X-Tenant": "me"}


def test_a_token_is_sent_as_it_is() -> None:
    assert headers(auth("bearer", token="abc")) == {
        "X-Tenant": "me",
        "Authorization": "Bearer abc",
    }


def test_aws_signs_as_botocore_does() -> None:
    signed = headers(
        auth("aws-sigv4", access_key_id="AK", secret_access_key="sk", session_token="st")
    )
    assert signed["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AK/")
    assert "/eu-west-1/glue/aws4_request" in signed["Authorization"]
    assert signed["X-Amz-Security-Token"] == "st"
    again = AWSRequest(
        "GET", REQUEST.url, {"host": "glue.eu-west-1.amazonaws.com", "X-Tenant": "me"}
    )
    again.context["timestamp"] = signed["X-Amz-Date"]
    oracle = SigV4Auth(Credentials("AK", "sk", "st"), "glue", "eu-west-1")
    again.headers["X-Amz-Date"] = signed["X-Amz-Date"]
    again.headers["X-Amz-Security-Token"] = "st"
    text = oracle.string_to_sign(again, oracle.canonical_request(again))
    assert signed["Authorization"].endswith(f"Signature={oracle.signature(text, again)}")


@pytest.mark.parametrize("scheme", ["bearer", "aws-sigv4", "no-such-scheme"])
def test_what_is_missing_is_named(scheme: str) -> None:
    with pytest.raises(PermanentUpstreamError, match=r"token|access_key_id|no auth scheme"):
        PROVIDERS.create(auth(scheme))


def test_signing_needs_a_region() -> None:
    secrets = {"access_key_id": Secret("AK"), "secret_access_key": Secret("sk")}
    provider = PROVIDERS.create(ResolvedAuth(scheme="aws-sigv4", secrets=secrets))
    with pytest.raises(PermanentUpstreamError, match="region"):
        provider.headers_for(REQUEST)


def test_file_access_travels_and_shows_nothing() -> None:
    access = FileAccess(
        region="eu-west-1", access_key_id=Secret("canary-1"), secret_access_key=Secret("canary-2")
    )
    assert "canary" not in repr(access)
    assert pickle.loads(pickle.dumps(access)) == access
