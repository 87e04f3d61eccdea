"""Iceberg connectors from the command line, as a person tries them."""

from collections.abc import Iterator

import pytest
from tests.support.cli import Cli, serving
from tests.support.lakehouse import iceberg_root

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    roots = str(iceberg_root())
    with serving(tmp_path_factory.mktemp("lake"), outbound_file_roots=roots) as cli:
        cli.make("lake")
        yield cli


def create(lake: Cli, name: str, kind: str, uri: str, *more: str) -> tuple[int, str]:
    options = ("--kind", kind, "--uri", uri, "--into", "lake", *more)
    ran = lake.run("connector", "create", name, *options)
    return ran.code, ran.out + ran.err


def validate(lake: Cli, name: str) -> str:
    ran = lake.run("connector", "validate", name)
    return ran.out + ran.err


@pytest.mark.parametrize(
    ("kind", "uri", "namespaces"),
    [
        ("iceberg-filesystem", "file:{root}/warehouse", 14),
        ("iceberg-filesystem", "{root}/warehouse/deep/top", 1),
        ("iceberg-sql", "sqlite:///{root}/catalog.db", 2),
    ],
)
def test_a_catalog_that_is_there_works(lake: Cli, kind: str, uri: str, namespaces: int) -> None:
    name = f"c{namespaces}"
    assert create(lake, name, kind, uri.format(root=iceberg_root()))[0] == 0
    assert f"namespaces found: {namespaces}" in validate(lake, name)


def test_what_is_wrong_is_said(lake: Cli) -> None:
    code, said = create(lake, "typo", "iceberg-sql", "sqlite:////x.db", "--set", "catalogname=x")
    assert code != 0
    assert "catalogname" in said
    assert create(lake, "outside", "iceberg-filesystem", "file:/etc")[0] == 0
    assert "outbound.file-roots" in validate(lake, "outside")
