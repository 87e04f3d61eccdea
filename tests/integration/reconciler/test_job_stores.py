"""Which queue is used: ours on the catalog's store, ours in memory, or a package's."""

from importlib.metadata import EntryPoint

import pytest
from tests.support.catalog import World, outside
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling, table_chunk

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.bootstrap import services
from floecat.errors import InvalidSettingsError
from floecat.reconciler.jobs import LeaseLostError
from floecat.reconciler.store import opening
from floecat.reconciler.store.opening import JobStoreContext, durable
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.settings.load import load_settings

OPENED: list[JobStoreContext] = []


def packaged(context: JobStoreContext) -> ReconcileJobStore:
    """What an installed package would offer."""
    OPENED.append(context)
    return durable(context)


def use(world: World, name: str) -> None:
    settings = load_settings({"FLOECAT_RECONCILER_JOB_STORE": name}).settings.reconciler
    handlers = services(world.stores, outside(world.stores), settings).handlers
    world.services.update((service.name, handler) for service, handler in handlers.items())


def test_a_queue_in_memory_leaves_nothing_in_the_store(world: World, clock: FakeClock) -> None:
    plane = Reconciling(world)
    use(world, "memory")
    before = {record.key for record in world.stores.kv.dump()}
    job = plane.start(mode=messages.METADATA_ONLY)
    assert {record.key for record in world.stores.kv.dump()} == before
    lease = plane.lease().lease
    clock.advance(seconds=31)
    with pytest.raises(LeaseLostError):
        plane.plan_connector(lease, ["sales.orders"])
    assert plane.job(job).state == messages.RJS_RUNNING


def test_a_package_may_offer_another(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = EntryPoint("packaged", f"{__name__}:packaged", opening.ENTRY_POINTS)
    monkeypatch.setattr(opening, "entry_points", lambda group: [offered])
    plane = Reconciling(world)
    use(world, "packaged")
    assert OPENED[-1].kv is world.stores.kv
    plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    plane.plan_table(plane.lease().lease, table_chunk("orders"))
    assert not plane.problems()


def test_a_name_that_nobody_offers_is_refused(world: World) -> None:
    with pytest.raises(InvalidSettingsError, match="durable, memory"):
        use(world, "redis")
