"""Starting runs: what is asked for is checked, completed from the connector, and queued."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ai.floedb.floecat.connector.connector_pb2 import CS_PAUSED, Connector
from ai.floedb.floecat.execution.capture_pb2 import DCS_EXPLICIT, CapturePolicy, ColumnCapturePolicy
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CaptureNowRequest,
    CaptureScope,
    ExecutionPolicy,
    StartCaptureRequest,
)
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask
from floecat.catalog.callers import Caller
from floecat.catalog.capture_policies import check_capture_policy, require_columns
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.tables import TableRepository
from floecat.catalog.views import ViewRepository
from floecat.errors import FailedPreconditionError, InvalidArgumentError
from floecat.reconciler.executors import require_executors
from floecat.reconciler.jobs import Enqueued, NewJob, RequestKey
from floecat.reconciler.selection import check_selection
from floecat.reconciler.settings import ReconcilerSettingsRepository
from floecat.reconciler.store.port import ReconcileJobStore

_MAX_LANE: Final = 100


RunRequest: TypeAlias = StartCaptureRequest | CaptureNowRequest
"""A request to start a run, whichever RPC it came with."""
ModeOf: TypeAlias = Callable[[Connector], messages.CaptureMode.ValueType]
"""What a connector is run in if nothing was said."""


@dataclass(frozen=True, slots=True)
class CaptureRuns:
    """Starts runs of connectors."""

    store: ReconcileJobStore
    connectors: ConnectorRepository
    tables: TableRepository
    views: ViewRepository
    settings: ReconcilerSettingsRepository
    enabled_executors: frozenset[str]

    def start(self, caller: Caller, request: RunRequest) -> Enqueued:
        """Queue a run, or join an identical one that is active."""
        check_scope(request.scope, request.mode)
        if request.mode == messages.CAPTURE_ONLY:
            require_tables(request.scope)
        return self._answered(caller, request, lambda _: messages.METADATA_AND_CAPTURE)

    def start_by_policy(self, caller: Caller, request: RunRequest) -> Enqueued:
        """The same in the connector's own mode, if none is given.

        Capture only is then about all of its tables that are mirrored.
        """
        return self._answered(caller, request, lambda connector: connector.policy.mode)

    def _answered(self, caller: Caller, request: RunRequest, default: ModeOf) -> Enqueued:
        """First of all: whether a request was answered doesn't depend on what holds by now."""
        key = _request_key(caller, request)
        answered = self.store.find_enqueued(key) if key else None
        return answered or self._start(caller, request, key, default)

    def _start(
        self, caller: Caller, request: RunRequest, key: RequestKey | None, default: ModeOf
    ) -> Enqueued:
        connector = self.connectors.get(caller, request.scope.connector_id).message
        mode = request.mode or default(connector) or messages.METADATA_AND_CAPTURE
        check_scope(request.scope, mode)
        if connector.state == CS_PAUSED:
            raise FailedPreconditionError(
                f"connector {connector.display_name!r} is paused: "
                f"floecat connector update {connector.display_name} --resume",
                reason="CONNECTOR_PAUSED",
            )
        if mode != messages.CAPTURE_ONLY:  # to which a table that is gone is no work
            self._require_relations(caller, request.scope)
        require_executors(self.enabled_executors, mode, request.scope)
        execution = _execution_policy(request, connector)
        task = self._task(caller, request, connector, mode)
        content = task.SerializeToString(deterministic=True)
        routing = execution.SerializeToString(deterministic=True)
        return self.store.enqueue(
            NewJob(
                account_id=caller.account_id,
                kind=messages.PLAN_CONNECTOR,
                task=content,
                execution_policy=execution,
                connector_id=connector.resource_id.id,
                fingerprint=hashlib.sha256(content + b"|" + routing).hexdigest(),
                request=key,
            )
        )

    def _require_relations(self, caller: Caller, scope: CaptureScope) -> None:
        for table_id in scope.table_ids:
            self.tables.get(caller, table_id)
        for view_id in scope.view_ids:
            self.views.get(caller, view_id)
        for wanted in scope.stats_requests:
            self.tables.get(caller, wanted.table_id)

    def _task(
        self,
        caller: Caller,
        request: RunRequest,
        connector: Connector,
        mode: messages.CaptureMode.ValueType,
    ) -> JobTask:
        policy = self._capture_policy(caller, request, connector)
        if mode != messages.METADATA_ONLY:
            check_capture_policy(policy, "capture_policy")
            require_columns(policy, "capture_policy")
        task = JobTask(
            scope=request.scope, mode=mode, full_rescan=request.full_rescan, capture_policy=policy
        )
        task.target.connector_id.CopyFrom(connector.resource_id)
        task.named_columns.extend(request.scope.columns)
        task.named_columns.extend(column.selector for column in request.capture_policy.columns)
        if connector.policy.HasField("keep_snapshots"):
            task.keep_snapshots = connector.policy.keep_snapshots
        return task

    def _capture_policy(
        self, caller: Caller, request: RunRequest, connector: Connector
    ) -> CapturePolicy:
        policy = CapturePolicy()
        if request.HasField("capture_policy"):
            policy.CopyFrom(request.capture_policy)
        elif connector.policy.HasField("capture"):
            policy.CopyFrom(connector.policy.capture)
        else:
            policy.CopyFrom(self.settings.get(caller.account_id).settings.capture_policy)
        _narrow(policy, request.scope.columns or connector.source.columns)
        return policy


def _request_key(caller: Caller, request: RunRequest) -> RequestKey | None:
    """Keys of one RPC say nothing about another's, and the queue's rows have to bear them."""
    if not request.HasField("idempotency"):
        return None
    key = request.idempotency.key
    if not key:
        raise InvalidArgumentError(
            "the idempotency key is empty: give one, or leave idempotency out",
            field="idempotency.key",
        )
    name = hashlib.sha256(f"{request.DESCRIPTOR.name}/{key}".encode()).hexdigest()
    content = request.SerializeToString(deterministic=True)
    return RequestKey(caller.account_id, name, hashlib.sha256(content).digest())


def check_scope(scope: CaptureScope, mode: messages.CaptureMode.ValueType) -> None:
    """Refuse a scope that doesn't fit the mode."""
    check_selection(scope.snapshots)
    if mode == messages.CAPTURE_ONLY and (scope.views or scope.view_ids):
        raise InvalidArgumentError(
            "capture only is about tables: leave the views out, or choose another mode",
            field="scope.views",
        )


def require_tables(scope: CaptureScope) -> None:
    """Refuse a scope that doesn't say which tables it is about."""
    if not (scope.table_ids or scope.tables or scope.stats_requests):
        raise InvalidArgumentError(
            "capture only needs to know which tables: name them", field="scope.table_ids"
        )


def _narrow(policy: CapturePolicy, columns: Sequence[str]) -> None:
    """Capture these columns only; what the policy says of some of them holds."""
    if not columns:
        return
    said = {column.selector: column for column in policy.columns}
    policy.default_scope = DCS_EXPLICIT
    del policy.columns[:]
    for selector in columns:
        default = ColumnCapturePolicy(
            selector=selector, ndv=True, quantiles=True, frequent_items=True, page_index=True
        )
        policy.columns.append(said.get(selector, default))


def _execution_policy(request: RunRequest, connector: Connector) -> ExecutionPolicy:
    given = request.HasField("execution_policy")
    policy = request.execution_policy if given else connector.policy.execution
    if len(policy.execution_lane) > _MAX_LANE or "/" in policy.execution_lane:
        raise InvalidArgumentError(
            f"an execution lane has at most {_MAX_LANE} characters, and no slash",
            field="execution_policy.execution_lane",
        )
    return policy
