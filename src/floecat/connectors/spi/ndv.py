"""NDV providers: where numbers of distinct values come from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from ai.floedb.floecat.catalog import stats_pb2

_HALVINGS: Final = 60

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


class SamplingNdvProvider:
    """Asks another provider that saw a part of the rows, and says what that makes of all of them.

    If every value is equally frequent, of D values in N rows a share q of the rows shows
    D·(1 - (1 - q)^(N/D)). What was shown is known, so D is what is looked for; it is at least what
    was seen, and at most that and every row that wasn't. Rows without a value show none: `filled`
    says, by column, how many rows have one, and the sample is taken to have its share of them.
    """

    def __init__(self, inner: NdvProvider, filled: Mapping[int, int] | None = None) -> None:
        self._inner = inner
        self._filled = filled or {}

    def find_ndv(self, column_id: int) -> ColumnNdv | None:
        found = self._inner.find_ndv(column_id)
        if found is None or not _is_sampled(found.ndv):
            return found
        seen, total = found.ndv.rows_seen, found.ndv.rows_total
        low, shown, high = _seen_values(found.ndv)
        filled = min(self._filled.get(column_id, total), total)
        scaled = stats_pb2.Ndv(
            approx=NdvApprox(
                estimate=max(low, extrapolated(shown, seen / total * filled, filled)),
                lower_bound=low,
                upper_bound=max(high, min(high + (total - seen), float(filled))),
            ),
            method=stats_pb2.NM_ESTIMATE,
            rows_seen=seen,
            rows_total=total,
        )
        return ColumnNdv(scaled, found.sketch)


def extrapolated(shown: float, seen: float, total: int) -> float:
    """How many values all rows have, if some of them have shown so many."""
    if shown >= seen:
        return float(total)  # all different so far
    share = seen / total
    low, high = shown, float(total)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle * (1 - (1 - share) ** (total / middle)) < shown:
            low = middle
        else:
            high = middle
    return high


def _is_sampled(ndv: stats_pb2.Ndv) -> bool:
    known = ndv.HasField("rows_seen") and ndv.HasField("rows_total")
    return known and 0 < ndv.rows_seen < ndv.rows_total


def _seen_values(ndv: stats_pb2.Ndv) -> tuple[float, float, float]:
    """At least, about and at most how many values were shown."""
    if ndv.WhichOneof("value") == "exact":
        return float(ndv.exact), float(ndv.exact), float(ndv.exact)
    approx = ndv.approx
    low = approx.lower_bound if approx.HasField("lower_bound") else approx.estimate
    high = approx.upper_bound if approx.HasField("upper_bound") else approx.estimate
    return low, approx.estimate, high


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
