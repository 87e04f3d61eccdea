"""Opening Iceberg connectors on the committed tables, and names of what there is to test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.lakehouse import iceberg_root, iceberg_truth

from floecat.connectors.auth.providers import NoAuthProvider
from floecat.connectors.iceberg.factory import FILESYSTEM, SQL, IcebergFactory
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.spi.records import Namespace
from floecat.security.guard import OutboundGuard, OutboundRules

BROKEN = frozenset({"broken.torn", "broken.strange", "broken.lost"})


def environment(*roots: Path) -> ConnectorEnvironment:
    rules = OutboundRules(file_roots=roots)
    return ConnectorEnvironment(auth=NoAuthProvider(), guard=OutboundGuard(rules))


def open_at(
    factory: IcebergFactory, uri: str, root: Path, options: Mapping[str, str] | None = None
) -> FloecatConnector:
    """A connector that may read below a folder, and the committed tables."""
    config = ConnectorConfig(kind_name=factory.kind_name, uri=uri, options=options or {})
    return factory.create(config, environment(root, iceberg_root()))


def open_warehouse() -> FloecatConnector:
    root = iceberg_root()
    return open_at(FILESYSTEM, f"file:{root}/warehouse", root)


def open_jdbc() -> FloecatConnector:
    """The catalog that Iceberg's own JDBC catalog wrote into SQLite."""
    root = iceberg_root()
    return open_at(SQL, f"sqlite:///{root}/catalog.db", root)


def split(path: str) -> tuple[Namespace, str]:
    *namespace, name = path.split(".")
    return tuple(namespace), name


def tables() -> dict[str, Any]:
    """What other engines say about the warehouse's tables, those aside that were broken later."""
    found: dict[str, Any] = iceberg_truth()["warehouse"]["tables"]
    return {path: truth for path, truth in found.items() if path not in BROKEN}


def planned_by_spark() -> list[tuple[str, int]]:
    """Those of `planned` that Spark can load; the others have types it has no words for."""
    found = tables()
    return [(path, snapshot_id) for path, snapshot_id in planned() if "files" in found[path]]


def planned() -> list[tuple[str, int]]:
    """Every table and snapshot whose files somebody else has listed."""
    return [(path, int(i)) for path, truth in tables().items() for i in truth["plans"]]
