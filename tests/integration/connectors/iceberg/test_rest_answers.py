"""What a REST catalog may answer: pages, prefixes, credentials, refusals, nonsense."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.http_server import Answer, Asked, answering
from tests.support.lakehouse import FIXTURES

from floecat.connectors.auth.providers import (
    AwsSigV4AuthProvider,
    BearerTokenAuthProvider,
    NoAuthProvider,
)
from floecat.connectors.iceberg.factory import REST
from floecat.connectors.spi.auth import AuthProvider
from floecat.connectors.spi.config import ConnectorConfig, ResolvedAuth
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import (
    BrokenTableError,
    ConnectorError,
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamGoneError,
    UpstreamProblem,
)
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.security.secret import Secret

METADATA: Any = json.loads(
    (FIXTURES / "iceberg/warehouse/deep/top/metadata/v2.metadata.json").read_text()
)
GONE = Answer({"error": {"message": "no", "type": "NoSuchNamespaceException", "code": 404}}, 404)


def connect(uri: str, auth: AuthProvider | None = None, **options: str) -> FloecatConnector:
    rules = OutboundRules(private_addresses=True)
    environment = ConnectorEnvironment(auth=auth or NoAuthProvider(), guard=OutboundGuard(rules))
    config = ConnectorConfig(kind_name=REST.kind_name, uri=uri, options=options)
    return REST.create(config, environment)


def serve(answers: dict[str, Any]) -> Callable[[Asked], Answer]:
    def answer(asked: Asked) -> Answer:
        found = answers.get(asked.path, GONE)
        found = found(asked) if callable(found) else found
        return found if isinstance(found, Answer) else Answer(found)

    return answer


def test_prefix_separator_and_token_are_used() -> None:
    answers = {
        "/v1/config": {
            "defaults": {},
            "overrides": {"prefix": "ws/1", "namespace-separator": "%2E"},
        },
        "/v1/ws/1/namespaces/a%2Fb%2Ec/tables": {"identifiers": [{"namespace": [], "name": "t"}]},
    }
    auth = BearerTokenAuthProvider(
        ResolvedAuth(scheme="bearer", secrets={"token": Secret("s3cret")})
    )
    with answering(serve(answers)) as (uri, asked), connect(uri, auth, warehouse="w") as connector:
        assert list(connector.list_tables(("a/b", "c"))) == ["t"]
    assert asked[0].query == {"warehouse": "w"}
    assert all(request.headers["Authorization"] == "Bearer s3cret" for request in asked)


def test_a_prefix_that_is_encoded_already_stays_so() -> None:
    answers = {
        "/v1/config": {"overrides": {"prefix": "main%7Cthe lake"}},
        "/v1/main%7Cthe%20lake/namespaces/a/tables": {"identifiers": [{"name": "t"}]},
    }
    with answering(serve(answers)) as (uri, _), connect(uri) as connector:
        assert list(connector.list_tables(("a",))) == ["t"]


def test_an_empty_listing_may_mean_no_such_namespace() -> None:
    nothing: dict[str, Any] = {"identifiers": []}
    answers = {
        "/v1/config": {},
        "/v1/namespaces/missing/tables": nothing,
        "/v1/namespaces/empty/tables": nothing,
        "/v1/namespaces/empty": {"namespace": ["empty"]},
    }
    with answering(serve(answers)) as (uri, _), connect(uri) as connector:
        assert list(connector.list_tables(("empty",))) == []
        with pytest.raises(UpstreamGoneError):
            list(connector.list_tables(("missing",)))


def test_pages_are_followed_to_their_end() -> None:
    def namespaces(asked: Asked) -> Any:
        if "parent" in asked.query:
            return GONE
        pages = {None: (["a"], "1"), "1": (["b"], "2"), "2": (["c"], None)}
        name, token = pages[asked.query.get("pageToken")]
        return {"namespaces": [name], "next-page-token": token}

    answers = {"/v1/config": {}, "/v1/namespaces": namespaces}
    with answering(serve(answers)) as (uri, _), connect(uri) as connector:
        assert list(connector.list_namespaces()) == [("a",), ("b",), ("c",)]


def test_pages_without_an_end_are_left() -> None:
    page = {"namespaces": [["a"]], "next-page-token": "again"}
    answers = {"/v1/config": {}, "/v1/namespaces": page}
    with (
        answering(serve(answers)) as (uri, _),
        connect(uri) as connector,
        pytest.raises(PermanentUpstreamError, match="pages"),
    ):
        list(connector.list_namespaces())


def test_credentials_for_a_table_are_used_for_its_files() -> None:
    vended = {
        "metadata": METADATA,
        "metadata-location": "s3://bucket/t/metadata/v2.metadata.json",
        "config": {"s3.region": "eu-north-1", "s3.endpoint": "http://127.0.0.1:9"},
        "storage-credentials": [
            {
                "prefix": "s3://",
                "config": {"s3.access-key-id": "wide", "s3.secret-access-key": "x"},
            },
            {
                "prefix": "s3://bucket/t",
                "config": {
                    "s3.access-key-id": "narrow",
                    "s3.secret-access-key": "y",
                    "s3.session-token": "z",
                    "s3.session-token-expires-at-ms": "1700000000000",
                },
            },
        ],
    }
    answers = {"/v1/config": {}, "/v1/namespaces/ns/tables/t": vended}
    with answering(serve(answers)) as (uri, asked), connect(uri) as connector:
        access = connector.file_access(("ns",), "t")
        assert access.access_key_id == Secret("narrow")
        assert access.session_token == Secret("z")
        assert (access.region, access.endpoint) == ("eu-north-1", "http://127.0.0.1:9")
        assert access.expires_at is not None
        assert access.expires_at.year == 2023
        assert asked[-1].headers["X-Iceberg-Access-Delegation"] == "vended-credentials"
        assert connector.describe(("ns",), "t").location == METADATA["location"]


@pytest.mark.parametrize("where", ["config", "storage-credentials"])
def test_own_keys_go_to_no_endpoint_that_an_answer_names(where: str) -> None:
    named = {"s3.endpoint": "http://127.0.0.1:9", "s3.region": "x@127.0.0.1/"}
    credentials = [{"prefix": "s3://", "config": named}]
    location = "s3://bucket/t/metadata/v2.metadata.json"
    answers = {
        "/v1/config": {"overrides": named if where == "config" else {}},
        "/v1/namespaces/ns/tables/t": {
            "metadata": METADATA,
            "metadata-location": location,
            where: named if where == "config" else credentials,
        },
    }
    secrets = {"access_key_id": Secret("mine"), "secret_access_key": Secret("s3cret")}
    auth = AwsSigV4AuthProvider(
        ResolvedAuth(scheme="aws-sigv4", secrets=secrets, options={"region": "eu-north-1"})
    )
    with answering(serve(answers)) as (uri, _), connect(uri, auth) as connector:
        access = connector.file_access(("ns",), "t")
        assert access.access_key_id == Secret("mine")
        assert (access.endpoint, access.region) == (None, "eu-north-1")
        assert "scheme" not in access.options


@pytest.mark.parametrize(
    ("answer", "kind", "problem"),
    [
        (Answer({}, 401), PermanentUpstreamError, UpstreamProblem.UNAUTHENTICATED),
        (Answer({}, 403), PermanentUpstreamError, UpstreamProblem.PERMISSION_DENIED),
        (Answer({}, 404), PermanentUpstreamError, UpstreamProblem.NO_SUCH_WAREHOUSE),
        (
            Answer({}, 429, {"Retry-After": "7"}),
            TransientUpstreamError,
            UpstreamProblem.UPSTREAM_ERROR,
        ),
        (Answer({}, 503), TransientUpstreamError, UpstreamProblem.UPSTREAM_ERROR),
        (Answer(body=b"<html>"), PermanentUpstreamError, UpstreamProblem.UPSTREAM_ERROR),
        (Answer(body=b"[]"), PermanentUpstreamError, UpstreamProblem.UPSTREAM_ERROR),
        (
            Answer({}, 302, {"Location": "http://169.254.169.254/v1/config"}),
            PermanentUpstreamError,
            UpstreamProblem.ADDRESS_NOT_ALLOWED,
        ),
    ],
)
def test_refusals_are_told_apart(
    answer: Answer, kind: type[ConnectorError], problem: UpstreamProblem
) -> None:
    with answering(serve({"/v1/config": answer})) as (uri, _), pytest.raises(kind) as raised:
        connect(uri)
    assert raised.value.problem is problem
    if isinstance(raised.value, TransientUpstreamError) and answer.headers:
        assert raised.value.retry_after is not None
        assert raised.value.retry_after.total_seconds() == 7


def bearer(token: str) -> AuthProvider:
    return BearerTokenAuthProvider(ResolvedAuth(scheme="bearer", secrets={"token": Secret(token)}))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500, 503])
@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("ServiceFailureException", "ServiceFailureException"),
        ("s3cret", ""),
        ("TheTokenException", ""),
        ("Bearer s3cret", ""),
        ("x" * 500, ""),
    ],
)
def test_what_a_server_says_isnt_repeated(status: int, kind: str, shown: str) -> None:
    def refuse(asked: Asked) -> Answer:
        error = {"message": f"bad: {asked.headers['Authorization']}", "type": kind, "code": status}
        return Answer({"error": error}, status)

    token = "TheTokenException" if "Token" in kind else "s3cret"
    answers = {"/v1/config": {}, "/v1/namespaces/a/tables": refuse}
    with (
        answering(serve(answers)) as (uri, _),
        connect(uri, bearer(token)) as connector,
        pytest.raises(ConnectorError) as raised,
    ):
        list(connector.list_tables(("a",)))
    for word in (token, "bad", "xxx"):
        assert word not in raised.value.message
    assert shown in raised.value.message or status in {401, 403, 404}


@pytest.mark.parametrize("token", ["gehe\u00efm", "two\nlines", "t0ken ", "nul\x00", "\u2603"])
def test_credentials_that_no_header_can_hold(token: str) -> None:
    with (
        answering(serve({"/v1/config": {}})) as (uri, asked),
        pytest.raises(PermanentUpstreamError, match="header") as raised,
    ):
        connect(uri, bearer(token))
    assert raised.value.problem is UpstreamProblem.BAD_SPEC
    assert token not in raised.value.message
    assert asked == []


@pytest.mark.parametrize("prefix", ["../admin", "a/../../b", ".", "a/%2e%2E/b", "a%2F..%2Fb"])
def test_a_prefix_cant_lead_out_of_the_base(prefix: str) -> None:
    answers = {"/v1/config": {"overrides": {"prefix": prefix}}}
    with (
        answering(serve(answers)) as (uri, asked),
        pytest.raises(PermanentUpstreamError, match="prefix"),
    ):
        connect(uri)
    assert [request.path for request in asked] == ["/v1/config"]


def test_names_and_prefixes_are_parts_of_the_path() -> None:
    answers = {
        "/v1/config": {"overrides": {"prefix": "a?b#c", "namespace-separator": "/../"}},
        "/v1/a%3Fb%23c/namespaces/%2E%2E/tables": {"identifiers": [{"name": "t"}]},
        "/v1/a%3Fb%23c/namespaces/x%2F..%2Fy/tables": {"identifiers": [{"name": "u"}]},
    }
    with answering(serve(answers)) as (uri, _), connect(uri) as connector:
        assert list(connector.list_tables(("..",))) == ["t"]
        assert list(connector.list_tables(("x", "y"))) == ["u"]


def test_nobody_there_is_a_passing_failure() -> None:
    with answering(serve({})) as (uri, _):
        pass
    with pytest.raises(TransientUpstreamError) as raised:
        connect(uri)
    assert raised.value.problem is UpstreamProblem.CONNECTION_REFUSED


def test_one_broken_table_is_its_own_failure() -> None:
    answers = {
        "/v1/config": {},
        "/v1/namespaces/ns/tables/good": {"metadata": METADATA},
        "/v1/namespaces/ns/tables/bad": {"metadata": {"format-version": 99}},
        "/v1/namespaces/ns/tables/worse": {"metadata": "none"},
        "/v1/namespaces/ns/tables/busy": Answer({}, 503),
    }
    with answering(serve(answers)) as (uri, _), connect(uri) as connector:
        for name in ("bad", "worse"):
            with pytest.raises(BrokenTableError):
                connector.describe(("ns",), name)
        with pytest.raises(TransientUpstreamError):
            connector.describe(("ns",), "busy")
        with pytest.raises(UpstreamGoneError):
            connector.describe(("ns",), "none")
        assert connector.describe(("ns",), "good").columns


@pytest.mark.parametrize("listing", [{"namespaces": 7}, {"namespaces": [7]}, {"namespaces": {}}])
def test_nonsense_in_a_listing_is_the_servers_fault(listing: Any) -> None:
    answers = {"/v1/config": {}, "/v1/namespaces": listing}
    with (
        answering(serve(answers)) as (uri, _),
        connect(uri) as connector,
        pytest.raises(PermanentUpstreamError, match="isn't what"),
    ):
        list(connector.list_namespaces())


def test_a_server_without_views_has_none() -> None:
    answers = {"/v1/config": {"endpoints": ["GET /v1/{prefix}/namespaces"]}}
    with answering(serve(answers)) as (uri, asked), connect(uri) as connector:
        assert list(connector.list_views(("ns",))) == []
    assert [request.path for request in asked] == ["/v1/config"]


def test_metadata_that_names_forbidden_files_reads_none() -> None:
    hostile = json.loads(json.dumps(METADATA))
    for snapshot in hostile["snapshots"]:
        snapshot["manifest-list"] = "file:///etc/passwd"
    answers = {"/v1/config": {}, "/v1/namespaces/ns/tables/t": {"metadata": hostile}}
    with answering(serve(answers)) as (uri, _), connect(uri) as connector:
        current = connector.describe(("ns",), "t").current_snapshot_id
        assert current is not None
        with pytest.raises(BrokenTableError) as raised:
            connector.plan_snapshot_files(("ns",), "t", current)
        assert raised.value.problem is UpstreamProblem.ADDRESS_NOT_ALLOWED
