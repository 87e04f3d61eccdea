"""Connecting to a service: one channel, a typed stub for every service, and how calls are made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import grpc

from floecat.client.calls import CallInterceptor
from floecat.client.headers import account_header, checked_headers
from floecat.client.retries import RetryPolicy

if TYPE_CHECKING:
    from ai.floedb.floecat.account.account_pb2_grpc import AccountServiceStub
    from ai.floedb.floecat.catalog.catalog_pb2_grpc import CatalogServiceStub
    from ai.floedb.floecat.catalog.constraints_pb2_grpc import TableConstraintsServiceStub
    from ai.floedb.floecat.catalog.directory_pb2_grpc import DirectoryServiceStub
    from ai.floedb.floecat.catalog.index_pb2_grpc import TableIndexServiceStub
    from ai.floedb.floecat.catalog.namespace_pb2_grpc import NamespaceServiceStub
    from ai.floedb.floecat.catalog.snapshot_pb2_grpc import SnapshotServiceStub
    from ai.floedb.floecat.catalog.stats_pb2_grpc import TableStatisticsServiceStub
    from ai.floedb.floecat.catalog.table_pb2_grpc import TableServiceStub
    from ai.floedb.floecat.catalog.view_pb2_grpc import ViewServiceStub
    from ai.floedb.floecat.connector.connector_pb2_grpc import ConnectorsStub
    from ai.floedb.floecat.query.lifecycle_pb2_grpc import QueryServiceStub
    from ai.floedb.floecat.query.planner_stats_pb2_grpc import PlannerStatsServiceStub
    from ai.floedb.floecat.query.system_objects_registry_pb2_grpc import SystemObjectsServiceStub
    from ai.floedb.floecat.query.user_objects_bundle_pb2_grpc import UserObjectsServiceStub
    from ai.floedb.floecat.reconciler.executor_control_pb2_grpc import ReconcileExecutorControlStub
    from ai.floedb.floecat.reconciler.reconciler_pb2_grpc import ReconcileControlStub


_FIRST_RECONNECT_MS: Final = 200
_LAST_RECONNECT_MS: Final = 2000
MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024


_STUBS: Final = {
    "accounts": ("account.account_pb2_grpc", "AccountServiceStub"),
    "catalogs": ("catalog.catalog_pb2_grpc", "CatalogServiceStub"),
    "namespaces": ("catalog.namespace_pb2_grpc", "NamespaceServiceStub"),
    "tables": ("catalog.table_pb2_grpc", "TableServiceStub"),
    "views": ("catalog.view_pb2_grpc", "ViewServiceStub"),
    "snapshots": ("catalog.snapshot_pb2_grpc", "SnapshotServiceStub"),
    "constraints": ("catalog.constraints_pb2_grpc", "TableConstraintsServiceStub"),
    "directory": ("catalog.directory_pb2_grpc", "DirectoryServiceStub"),
    "statistics": ("catalog.stats_pb2_grpc", "TableStatisticsServiceStub"),
    "indexes": ("catalog.index_pb2_grpc", "TableIndexServiceStub"),
    "connectors": ("connector.connector_pb2_grpc", "ConnectorsStub"),
    "reconcile": ("reconciler.reconciler_pb2_grpc", "ReconcileControlStub"),
    "executor": ("reconciler.executor_control_pb2_grpc", "ReconcileExecutorControlStub"),
    "query": ("query.lifecycle_pb2_grpc", "QueryServiceStub"),
    "planner_stats": ("query.planner_stats_pb2_grpc", "PlannerStatsServiceStub"),
    "user_objects": ("query.user_objects_bundle_pb2_grpc", "UserObjectsServiceStub"),
    "system_objects": ("query.system_objects_registry_pb2_grpc", "SystemObjectsServiceStub"),
}
"""Where each stub comes from. Imported when first used: a program seldom needs all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """How a client calls."""

    account: str | None = None
    """Account id or name, for a service in dev mode; None means the service's default account."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every call, e.g. `x-engine-kind` and `x-engine-version`; printable ASCII."""
    timeout: timedelta = timedelta(seconds=30)
    """The deadline of calls that state none."""
    retry: RetryPolicy = RetryPolicy()


class GrpcClients:
    """Typed, blocking stubs for every service over one channel. Safe to share between threads."""

    accounts: "AccountServiceStub"
    catalogs: "CatalogServiceStub"
    namespaces: "NamespaceServiceStub"
    tables: "TableServiceStub"
    views: "ViewServiceStub"
    snapshots: "SnapshotServiceStub"
    constraints: "TableConstraintsServiceStub"
    directory: "DirectoryServiceStub"
    statistics: "TableStatisticsServiceStub"
    indexes: "TableIndexServiceStub"
    connectors: "ConnectorsStub"
    reconcile: "ReconcileControlStub"
    executor: "ReconcileExecutorControlStub"
    query: "QueryServiceStub"
    planner_stats: "PlannerStatsServiceStub"
    user_objects: "UserObjectsServiceStub"
    system_objects: "SystemObjectsServiceStub"

    def __init__(self, target: str, options: ClientOptions) -> None:
        headers = checked_headers(options.headers)
        if options.account:
            headers.update(account_header(options.account))
        self._plain = grpc.insecure_channel(
            target,
            options=(
                ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
                ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
                # By default a service that is back is found up to two minutes later.
                ("grpc.initial_reconnect_backoff_ms", _FIRST_RECONNECT_MS),
                ("grpc.max_reconnect_backoff_ms", _LAST_RECONNECT_MS),
            ),
        )
        self._calls = CallInterceptor(headers, options.timeout, options.retry)
        self._channel = grpc.intercept_channel(self._plain, self._calls)

    def __getattr__(self, name: str) -> Any:
        if name not in _STUBS:
            raise AttributeError(f"there is no service {name!r}: one of {', '.join(_STUBS)}")
        self._calls.require_open()
        module, stub = _STUBS[name]
        made = getattr(import_module(f"ai.floedb.floecat.{module}"), stub)(self._channel)
        setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        """Stubs that nobody has used yet are there too."""
        return sorted({*super().__dir__(), *_STUBS})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the channel and every call on it."""
        self._calls.close()
        self._plain.close()


def connect(target: str = "localhost:9100", options: ClientOptions | None = None) -> GrpcClients:
    """Connect to a service. The connection is made when the first call needs it."""
    return GrpcClients(target, options or ClientOptions())
