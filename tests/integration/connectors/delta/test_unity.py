"""Delta tables through Unity Catalog's REST interface."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.test_connector_delta import make_table
from tests.support.connectors import open_connector
from tests.support.unity import Unity, running_unity

from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import (
    ConnectorError,
    TransientUpstreamError,
    UpstreamGoneError,
    UpstreamProblem,
)
from floecat.connectors.testing import ConnectorConformance, Upstream
from floecat.security.secret import Secret


@pytest.fixture
def unity(tmp_path: Path) -> Iterator[Unity]:
    make_table(tmp_path / "orders")
    with running_unity() as unity:
        unity.add(
            "main",
            "sales",
            "orders",
            storage_location=f"file://{tmp_path}/orders",
            comment="what was ordered",
            properties={"delta.appendOnly": "true", "owner": "ada"},
        )
        for number in range(4):
            unity.add("main", "sales", f"csv{number}", data_source_format="CSV")
        unity.add("main", "odd-näme", "t")
        unity.add(
            "main",
            "sales",
            "recent",
            table_type="VIEW",
            data_source_format=None,
            view_definition="select 1",
            columns=[
                {"name": "a", "type_text": "bigint", "nullable": False, "comment": "one"},
                {"name": "b", "type_text": "no such type"},
            ],
        )
        unity.add("other", "s", "t")
        yield unity


def connect(
    unity: Unity, root: Path, token: str = "unity-token", **options: str
) -> FloecatConnector:
    auth = ResolvedAuth(scheme="bearer", secrets={"token": Secret(token)})
    return open_connector("delta-unity", unity.uri, roots=[root], auth=auth, **options)


class TestUnity(ConnectorConformance):
    @pytest.fixture
    def upstream(self, unity: Unity, tmp_path: Path) -> Upstream:
        return Upstream(
            open=lambda: connect(unity, tmp_path), namespace=("main", "sales"), table="orders"
        )


def test_everything_is_listed_page_by_page(unity: Unity, tmp_path: Path) -> None:
    with connect(unity, tmp_path) as connector:
        assert list(connector.list_namespaces()) == [
            ("main",),
            ("main", "odd-näme"),
            ("main", "sales"),
            ("other",),
            ("other", "s"),
        ]
        assert list(connector.list_tables(("main", "sales"))) == ["orders"]
        assert list(connector.list_tables(("main", "odd-näme"))) == ["t"]
        assert list(connector.list_views(("main", "sales"))) == ["recent"]
        assert list(connector.list_tables(("main",))) == []
    assert any("page_token" in path for path in unity.asked)


def test_one_catalog_can_be_chosen(unity: Unity, tmp_path: Path) -> None:
    with connect(unity, tmp_path, catalog="other") as connector:
        assert list(connector.list_namespaces()) == [("other",), ("other", "s")]
    with (
        connect(unity, tmp_path, catalog="none") as connector,
        pytest.raises(ConnectorError) as failed,
    ):
        list(connector.list_namespaces())
    assert failed.value.problem is UpstreamProblem.NO_SUCH_WAREHOUSE


def test_views_and_properties(unity: Unity, tmp_path: Path) -> None:
    with connect(unity, tmp_path) as connector:
        view = connector.describe_view(("main", "sales"), "recent")
        assert [(d.dialect, d.sql) for d in view.sql_definitions] == [("spark", "select 1")]
        first, second = view.output_columns
        assert (first.name, first.nullable, first.comment) == ("a", False, "one")
        assert not second.HasField("type"), "a type nobody knows is left out, not the view"
        table = connector.describe(("main", "sales"), "orders")
        assert table.description == "what was ordered"
        assert table.properties["owner"] == "ada"
        with pytest.raises(UpstreamGoneError, match="is a view"):
            connector.describe(("main", "sales"), "recent")
        with pytest.raises(UpstreamGoneError, match="is a table"):
            connector.describe_view(("main", "sales"), "orders")


def test_keys_are_lent_for_tables_in_a_store(unity: Unity, tmp_path: Path) -> None:
    unity.keys = {"access_key_id": "AK", "secret_access_key": "canary", "session_token": "st"}
    unity.add("main", "sales", "far", storage_location="s3://bucket/far")
    with connect(unity, tmp_path) as connector:
        access = connector.file_access(("main", "sales"), "far")
    assert access.secret_access_key == Secret("canary")
    assert access.expires_at is not None
    assert "canary" not in repr(access)


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (403, UpstreamProblem.PERMISSION_DENIED),
        (404, UpstreamProblem.NO_SUCH_WAREHOUSE),
        (429, UpstreamProblem.UPSTREAM_ERROR),
        (500, UpstreamProblem.UPSTREAM_ERROR),
    ],
)
def test_failures_are_told_apart(
    unity: Unity, tmp_path: Path, status: int, problem: UpstreamProblem
) -> None:
    unity.fails = status
    with connect(unity, tmp_path) as connector, pytest.raises(ConnectorError) as failed:
        list(connector.list_namespaces())
    assert failed.value.problem is problem
    assert isinstance(failed.value, TransientUpstreamError) == (status in {429, 500})


def test_a_wrong_token(unity: Unity, tmp_path: Path) -> None:
    with (
        connect(unity, tmp_path, token="canary") as connector,
        pytest.raises(ConnectorError) as failed,
    ):
        list(connector.list_namespaces())
    assert failed.value.problem is UpstreamProblem.UNAUTHENTICATED
    assert "canary" not in failed.value.message


def test_a_location_outside_the_roots_isnt_read(unity: Unity, tmp_path: Path) -> None:
    unity.add("main", "sales", "evil", storage_location="file:///etc")
    with connect(unity, tmp_path) as connector, pytest.raises(ConnectorError) as failed:
        connector.describe(("main", "sales"), "evil")
    assert failed.value.problem is UpstreamProblem.ADDRESS_NOT_ALLOWED
