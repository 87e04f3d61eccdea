"""NDV providers: where numbers of distinct values come from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from ai.floedb.floecat.catalog import stats_pb2

NdvApprox: TypeAlias = stats_pb2.NdvApprox
"""An estimate with its bounds, as the contract has it."""


@dataclass(frozen=True, slots=True)
class NdvSketch:
    """A mergeable sketch of a column's values."""

    type: str
    data: bytes
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ColumnNdv:
    """What is known about a column's distinct values."""

    ndv: stats_pb2.Ndv
    sketch: NdvSketch | None = None


class NdvProvider(Protocol):
    """Says how many distinct values a column of one snapshot has, if it knows."""

    def find_ndv(self, column_id: int) -> ColumnNdv | None:
        """What is known about a column; None when nothing is."""


class StaticOnceNdvProvider:
    """Values known beforehand for a whole snapshot, each handed out once: none counts twice."""

    def __init__(self, values: Mapping[int, ColumnNdv]) -> None:
        self._values = dict(values)

    def find_ndv(self, column_id: int) -> ColumnNdv | None:
        return self._values.pop(column_id, None)


class FilteringNdvProvider:
    """Asks another provider, but only about some columns."""

    def __init__(self, inner: NdvProvider, column_ids: Collection[int]) -> None:
        self._inner = inner
        self._column_ids = frozenset(column_ids)

    def find_ndv(self, column_id: int) -> ColumnNdv | None:
        return self._inner.find_ndv(column_id) if column_id in self._column_ids else None


class ChainedNdvProvider:
    """Asks several in turn."""

    def __init__(self, providers: Sequence[NdvProvider]) -> None:
        self._providers = tuple(providers)

    def find_ndv(self, column_id: int) -> ColumnNdv | None:
        for provider in self._providers:
            found = provider.find_ndv(column_id)
            if found is not None:
                return found
        return None
