"""Logs with anything in them: a table may be broken, but nothing else goes wrong."""

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.connectors import open_connector
from tests.support.lakehouse import delta_root

from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import ConnectorError
from floecat.connectors.spi.records import SnapshotEnumerationOptions

pytestmark = pytest.mark.slow

TABLES = ("vectors", "partitioned", "mapped_by_name", "constrained", "widened")
NOWHERE = ("default",)

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(2**63),
    st.just(-1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
    st.sampled_from(["../../etc/passwd", "file:///etc/passwd", "http://169.254.169.254/", "%00"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.just(json.loads("[" * 200 + "]" * 200)),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything inside a JSON value."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], (*path, index))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_only_the_table_is_broken(data: st.DataObject, tmp_path: Path) -> None:
    name = data.draw(st.sampled_from(TABLES))
    table = tmp_path / "lake" / "t"
    shutil.rmtree(table, ignore_errors=True)
    shutil.copytree(delta_root() / name, table)
    commits = sorted((table / "_delta_log").glob("*.json"))
    commit = data.draw(st.sampled_from(commits))
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    number = data.draw(st.integers(0, len(actions) - 1))
    path = data.draw(st.sampled_from(list(places(actions[number]))))
    actions[number] = changed(actions[number], path, data.draw(junk))
    commit.write_text("".join(json.dumps(action) + "\n" for action in actions))
    with open_connector(
        "delta-filesystem", f"file://{tmp_path}/lake", roots=[tmp_path]
    ) as connector:
        look_at_everything(connector)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_schemas_and_statistics_too(data: st.DataObject, tmp_path: Path) -> None:
    """What lies as JSON text inside the log's JSON."""
    name = data.draw(st.sampled_from(TABLES))
    table = tmp_path / "lake" / "t"
    shutil.rmtree(table, ignore_errors=True)
    shutil.copytree(delta_root() / name, table)
    for commit in sorted((table / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for action in actions:
            for kind, field in (("metaData", "schemaString"), ("add", "stats")):
                if action.get(kind, {}).get(field):
                    inner = json.loads(action[kind][field])
                    path = data.draw(st.sampled_from(list(places(inner))))
                    action[kind][field] = json.dumps(changed(inner, path, data.draw(junk)))
        commit.write_text("".join(json.dumps(action) + "\n" for action in actions))
    with open_connector(
        "delta-filesystem", f"file://{tmp_path}/lake", roots=[tmp_path]
    ) as connector:
        look_at_everything(connector)


def look_at_everything(connector: FloecatConnector) -> None:
    """Ask for all there is; what can't be had must be said in the SPI's own errors."""
    every = SnapshotEnumerationOptions(full_rescan=True)
    with suppress(ConnectorError):
        connector.describe(NOWHERE, "t")
    with suppress(ConnectorError):
        list(connector.enumerate_snapshots(NOWHERE, "t", every))
    for version in range(8):
        with suppress(ConnectorError):
            bundle = connector.plan_snapshot_files(NOWHERE, "t", version)
            paths = ColumnScope().unnumbered(bundle.columns)
            scope = ColumnScope((), {path: number for number, path in enumerate(paths, 1)})
            list(connector.capture_snapshot_target_stats(NOWHERE, "t", version, scope))


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"{}", b"null", b"[]", b"7", b'"x"', b"[" * 9000]
)
def test_a_commit_that_says_nothing(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_bytes(content)
    with open_connector("delta-filesystem", str(tmp_path), roots=[tmp_path]) as connector:
        assert list(connector.list_tables(NOWHERE)) == ["t"]
        with pytest.raises(ConnectorError):
            connector.describe(NOWHERE, "t")
