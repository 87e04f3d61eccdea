"""Walking through an upstream: every relation of a scope, and what couldn't be listed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanConnectorChunk, PlannedRelation
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    PLAN_CONNECTOR,
    JobFailure,
    NamespacePath,
    ReconcileJobTarget,
    SourceRelation,
)
from floecat.client.names import format_name
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import (
    BrokenTableError,
    ConnectorError,
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamGoneError,
    UpstreamProblem,
)
from floecat.connectors.spi.records import Namespace
from floecat.worker.asked import near
from floecat.worker.scopes import Scope, namespace_of, relation_of
from floecat.worker.work import LeasedWork

_OF_ONE_NAMESPACE: Final = frozenset(
    {
        UpstreamProblem.PERMISSION_DENIED,
        UpstreamProblem.NO_SUCH_WAREHOUSE,
        UpstreamProblem.UPSTREAM_ERROR,
    }
)
"""What may be wrong with one namespace; everything else is wrong with the way there."""
_LOOKED_THROUGH: Final = 10_000
"""Namespaces that are kept in mind, in case one is spelled almost like one that isn't there."""
_PATIENT_ATTEMPTS: Final = 3
"""How often a whole run is tried again because one namespace doesn't answer."""


@dataclass(frozen=True, slots=True)
class Walk:
    """One pass over an upstream."""

    connector: FloecatConnector
    scope: Scope
    work: LeasedWork
    with_views: bool
    with_revisions: bool
    """Whether to tell what each table is at, so that unchanged ones can be left alone."""

    def parts(self) -> Iterator[PlanConnectorChunk]:
        """What there is, a relation or a failure at a time."""
        yield from self._named()
        if self.scope.is_walked:
            yield from self._walked()

    def _walked(self) -> Iterator[PlanConnectorChunk]:
        missing = set(self.scope.namespaces)
        others: list[str] = []
        for namespace in self.connector.list_namespaces():
            if self.scope.covers(namespace):
                missing -= {namespace[:depth] for depth in range(1, len(namespace) + 1)}
                yield from self._namespace(namespace)
            elif missing and len(others) < _LOOKED_THROUGH:
                others.append(format_name(namespace))
        for namespace in sorted(missing):
            yield PlanConnectorChunk(failures=[self._unknown(namespace, others)])

    def _named(self) -> Iterator[PlanConnectorChunk]:
        """What is named isn't looked for: whoever plans it finds out whether it is there."""
        by_namespace: dict[Namespace, list[SourceRelation]] = {}
        for table in self.scope.tables:
            by_namespace.setdefault(namespace_of(table), []).append(table)
        for namespace, tables in by_namespace.items():
            yield from self._tables(namespace, [table.name for table in tables])
        if self.with_views:
            for view in self.scope.views:
                yield PlanConnectorChunk(views=[PlannedRelation(source=view)])

    def _namespace(self, namespace: Namespace) -> Iterator[PlanConnectorChunk]:
        tables = self._listed(namespace, self.connector.list_tables)
        if isinstance(tables, JobFailure):
            yield PlanConnectorChunk(failures=[tables])
            return
        yield from self._tables(namespace, tables)
        views: Sequence[str] | JobFailure = ()
        if self.with_views and self.connector.capabilities.views:
            views = self._listed(namespace, self.connector.list_views)
        if isinstance(views, JobFailure):
            yield PlanConnectorChunk(failures=[views])
            return
        for name in views:
            source = relation_of(namespace, name)
            yield PlanConnectorChunk(views=[PlannedRelation(source=source)])
        self.work.step("listed", namespace=namespace, tables=len(tables), views=len(views))

    def _tables(self, namespace: Namespace, names: Sequence[str]) -> Iterator[PlanConnectorChunk]:
        revisions = self._revisions(namespace, names)
        for name in names:
            relation = PlannedRelation(
                source=relation_of(namespace, name), revision=revisions.get(name, "")
            )
            yield PlanConnectorChunk(tables=[relation])

    def _listed(
        self, namespace: Namespace, listing: Callable[[Namespace], Iterable[str]]
    ) -> Sequence[str] | JobFailure:
        """The names in a namespace, those left out aside; or why they can't be told."""
        try:
            names = list(listing(namespace))
        except UpstreamGoneError:
            return ()  # since it was listed itself
        except ConnectorError as error:
            if not self._is_of_one_namespace(error):
                raise
            self.work.log.info("not listed", namespace=namespace, problem=error.message)
            return self._failure(namespace, error)
        return [name for name in names if not self.scope.leaves_out(namespace, name)]

    def _revisions(self, namespace: Namespace, names: Sequence[str]) -> Mapping[str, str]:
        if not self.with_revisions or not self.connector.capabilities.revisions:
            return {}
        try:
            return self.connector.table_revisions(namespace, names)
        except ConnectorError as error:
            # Unknown, so each of them is looked at, and says itself what is wrong.
            self.work.log.info("no revisions", namespace=namespace, problem=error.message)
            return {}

    def _is_of_one_namespace(self, error: ConnectorError) -> bool:
        match error:
            case BrokenTableError():
                return True
            case PermanentUpstreamError():
                return error.problem in _OF_ONE_NAMESPACE
            case TransientUpstreamError():
                # It may well be the whole upstream. If it stays, the others mustn't wait for ever.
                return self.work.job.attempt > _PATIENT_ATTEMPTS
            case _:
                return False

    def _unknown(self, namespace: Namespace, others: Sequence[str]) -> JobFailure:
        name = format_name(namespace)
        return self._told(namespace, f"there is no namespace {name} upstream{near(name, others)}")

    def _failure(self, namespace: Namespace, error: ConnectorError) -> JobFailure:
        return self._told(namespace, f"{'.'.join(namespace)} can't be listed: {error.message}")

    def _told(self, namespace: Namespace, message: str) -> JobFailure:
        place = SourceRelation(namespace=NamespacePath(segments=namespace))
        target = ReconcileJobTarget(connector_id=self.work.job.target.connector_id, source=place)
        return JobFailure(
            job_id=self.work.lease.job_id,
            kind=PLAN_CONNECTOR,
            target=target,
            message=message,
        )
