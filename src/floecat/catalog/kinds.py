"""The kinds of resource this room keeps."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from ai.floedb.floecat.common import common_pb2

Kind: TypeAlias = common_pb2.ResourceKind.ValueType

KIND_NAMES: Final[Mapping[Kind, str]] = {
    common_pb2.RK_ACCOUNT: "account",
    common_pb2.RK_CATALOG: "catalog",
    common_pb2.RK_NAMESPACE: "namespace",
    common_pb2.RK_TABLE: "table",
    common_pb2.RK_VIEW: "view",
    common_pb2.RK_CONNECTOR: "connector",
}
"""As people and keys call them."""
