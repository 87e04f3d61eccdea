"""The store that the settings name: ours, or one that an installed package offers."""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Final, TypeAlias

from floecat.catalog.records import CatalogStores
from floecat.errors import InvalidSettingsError
from floecat.statistics.repository import StatsRepository
from floecat.statistics.store import StatsStore

ENTRY_POINTS: Final = "floecat.stats_stores"

StatsStoreFactory: TypeAlias = Callable[[CatalogStores], StatsStore]
"""What packages offer as `floecat.stats_stores`."""


def open_stats_store(name: str, stores: CatalogStores) -> StatsStore:
    """The store of a name."""
    found = [entry for entry in entry_points(group=ENTRY_POINTS) if entry.name == name]
    if not found:
        known = sorted({entry.name for entry in entry_points(group=ENTRY_POINTS)})
        raise InvalidSettingsError(
            f"statistics.store = {name}: there is no such store; {', '.join(known)} are there"
        )
    factory: StatsStoreFactory = found[0].load()
    return factory(stores)


def default(stores: CatalogStores) -> StatsStore:
    """Statistics beside the catalog: records over what captures left in the blob store."""
    return StatsRepository(stores)
