"""The kinds of resource this room keeps."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from google.protobuf.message import Message

from ai.floedb.floecat.account.account_pb2 import Account
from ai.floedb.floecat.catalog.catalog_pb2 import Catalog
from ai.floedb.floecat.catalog.namespace_pb2 import Namespace
from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.catalog.view_pb2 import View
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.connector.connector_pb2 import Connector

Kind: TypeAlias = common_pb2.ResourceKind.ValueType

KIND_NAMES: Final[Mapping[Kind, str]] = {
    common_pb2.RK_ACCOUNT: "account",
    common_pb2.RK_CATALOG: "catalog",
    common_pb2.RK_NAMESPACE: "namespace",
    common_pb2.RK_TABLE: "table",
    common_pb2.RK_VIEW: "view",
    common_pb2.RK_CONNECTOR: "connector",
    common_pb2.RK_RECONCILE_JOB: "job",
}
"""As people and keys call them."""

KINDS_BY_NAME: Final[Mapping[str, Kind]] = {name: kind for kind, name in KIND_NAMES.items()}

MESSAGE_TYPES: Final[Mapping[Kind, type[Message]]] = {
    common_pb2.RK_ACCOUNT: Account,
    common_pb2.RK_CATALOG: Catalog,
    common_pb2.RK_NAMESPACE: Namespace,
    common_pb2.RK_TABLE: Table,
    common_pb2.RK_VIEW: View,
    common_pb2.RK_CONNECTOR: Connector,
}
