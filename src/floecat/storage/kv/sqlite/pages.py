"""Keys asked for together, put in pages that one statement can answer."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from floecat.storage.kv.limits import EncodedKey

_PAGE: Final = 100
"""Sorts per statement: few lengths of statement, so that each stays prepared."""


@dataclass(frozen=True, slots=True)
class PartitionPage:
    """Some keys of one partition."""

    partition: bytes
    sorts: Sequence[bytes]


def pages_of(keys: Sequence[EncodedKey]) -> Iterator[PartitionPage]:
    """The keys, by partition, a page at a time."""
    by_partition: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for partition, sort in keys:
        by_partition[partition].append(sort)
    for partition, sorts in by_partition.items():
        for start in range(0, len(sorts), _PAGE):
            yield PartitionPage(partition, sorts[start : start + _PAGE])
