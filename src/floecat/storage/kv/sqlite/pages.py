"""Keys asked for together, put in pages that one statement can answer."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from floecat.storage.kv.limits import checked_partition, checked_sort
from floecat.storage.kv.port import Key

_PAGE: Final = 100
"""Sorts per statement: few lengths of statement, so that each stays prepared."""


@dataclass(frozen=True, slots=True)
class PartitionPage:
    """Some keys of one partition, and where they stood among those asked for."""

    partition: bytes
    sorts: Sequence[bytes]
    places: Sequence[int]


def pages_of(keys: Sequence[Key]) -> Iterator[PartitionPage]:
    """The keys, by partition, a page at a time. Each partition is encoded once."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key.partition].append(place)
    for partition, all_places in places.items():
        encoded = checked_partition(partition)
        for start in range(0, len(all_places), _PAGE):
            some = all_places[start : start + _PAGE]
            yield PartitionPage(encoded, [checked_sort(keys[place].sort) for place in some], some)
