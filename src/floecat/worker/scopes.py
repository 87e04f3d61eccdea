"""Which of an upstream's namespaces and relations a run covers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self

from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CaptureScope,
    NamespacePath,
    SourceRelation,
)
from floecat.connectors.spi.records import Namespace


@dataclass(frozen=True, slots=True)
class Scope:
    """What was asked for. Nothing named means everything."""

    namespaces: frozenset[Namespace]
    tables: tuple[SourceRelation, ...]
    views: tuple[SourceRelation, ...]
    exclude: tuple[str, ...]

    @classmethod
    def of(cls, scope: CaptureScope, exclude: Sequence[str]) -> Self:
        """A run's scope."""
        return cls(
            namespaces=frozenset(tuple(path.segments) for path in scope.namespaces),
            tables=tuple(scope.tables),
            views=tuple(scope.views),
            exclude=tuple(exclude),
        )

    @property
    def is_walked(self) -> bool:
        """Whether namespaces have to be looked through; relations that are named needn't be."""
        return bool(self.namespaces) or not (self.tables or self.views)

    def covers(self, namespace: Namespace) -> bool:
        """Whether a namespace is looked through: one that is named, and everything below it."""
        if not self.namespaces:
            return True
        return any(namespace[:depth] in self.namespaces for depth in range(1, len(namespace) + 1))

    def leaves_out(self, namespace: Namespace, name: str) -> bool:
        """Whether a relation is excluded."""
        dotted = ".".join((*namespace, name))
        return any(fnmatchcase(dotted, pattern) for pattern in self.exclude)


def relation_of(namespace: Namespace, name: str) -> SourceRelation:
    """A relation as the contract writes it."""
    return SourceRelation(namespace=NamespacePath(segments=namespace), name=name)


def namespace_of(relation: SourceRelation) -> Namespace:
    """Where a relation is upstream."""
    return tuple(relation.namespace.segments)
