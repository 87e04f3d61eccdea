"""Where a connector's relations go: names resolved to ids, written back under its version."""

from typing import NamedTuple

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector.connector_pb2 import (
    CS_ACTIVE,
    CS_ERROR,
    Connector,
    DestinationTarget,
)
from floecat.catalog.callers import Caller
from floecat.catalog.codec import Stored
from floecat.catalog.destinations import Destinations
from floecat.catalog.records import CatalogStores, Records, next_meta
from floecat.catalog.tree import Tree
from floecat.errors import FailedPreconditionError, NotFoundError


class DestinationMismatchError(FailedPreconditionError):
    """What a connector is to fill isn't what it says any more."""

    default_reason = "DESTINATION_MISMATCH"


class Bound(NamedTuple):
    """Where a connector's relations go."""

    catalog_id: ResourceId
    namespace_path: tuple[str, ...]


class ConnectorBinding:
    """Binds connectors to their destinations."""

    def __init__(self, stores: CatalogStores, caller: Caller) -> None:
        self._stores = stores
        self._caller = caller
        self._records = Records(stores, common_pb2.RK_CONNECTOR, Connector)
        self._tree = Tree(stores)
        self._destinations = Destinations(stores, caller)

    def bind(self, connector_id: str) -> Bound:
        """Find or make a connector's destination. A mismatch becomes its state, and is raised."""
        stored = self._records.get(self._caller.account_id, connector_id)
        try:
            destination = self._resolved(stored.message)
        except DestinationMismatchError as error:
            self._write(stored, stored.message.destination, error.message)
            raise
        self._write(stored, destination, "")
        return Bound(destination.catalog_id, tuple(destination.namespace_path))

    def _resolved(self, connector: Connector) -> DestinationTarget:
        target = DestinationTarget()
        target.CopyFrom(connector.destination)
        if target.catalog_id.id:
            self._require_catalog(target)
        else:
            name = target.catalog_display_name or connector.display_name
            target.catalog_id.CopyFrom(self._destinations.catalog(name))
        if target.namespace_path:
            self._bind_namespace(target)
        return target

    def _require_catalog(self, target: DestinationTarget) -> None:
        try:
            place = self._tree.catalog(self._caller.account_id, target.catalog_id.id)
        except NotFoundError as error:
            raise DestinationMismatchError(
                "its destination catalog doesn't exist any more: give the connector another one"
            ) from error
        name = place.catalog.message.display_name
        if target.catalog_display_name and target.catalog_display_name != name:
            raise DestinationMismatchError(
                f"its destination is said to be {target.catalog_display_name!r}, but the catalog "
                f"with that id is {name!r}: correct the name or the id"
            )

    def _bind_namespace(self, target: DestinationTarget) -> None:
        path = list(target.namespace_path)
        found = self._destinations.namespace(target.catalog_id.id, path)
        if target.namespace_id.id and target.namespace_id.id != found.id:
            raise DestinationMismatchError(
                f"its destination namespace is said to be {'.'.join(path)}, which is another one "
                "than the id it was bound to: correct the path, or clear the id"
            )
        target.namespace_id.CopyFrom(found)

    def _write(
        self, stored: Stored[Connector], destination: DestinationTarget, problem: str
    ) -> None:
        """Write what was found, if it is news and the connector is still as it was read."""
        connector = Connector()
        connector.CopyFrom(stored.message)
        connector.destination.CopyFrom(destination)
        if problem:
            connector.state = CS_ERROR
        elif connector.state == CS_ERROR:
            connector.state = CS_ACTIVE
        connector.state_message = problem
        if connector == stored.message:
            return
        meta = next_meta(stored.meta, connector, self._stores.now())
        put = self._records.replace(self._caller.account_id, stored, connector, meta)
        self._stores.kv.commit([put])
