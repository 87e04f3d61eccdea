"""Races decided by hand: somebody else commits between a mutation's reads and its commit."""

from collections.abc import Sequence

import pytest
from tests.support.catalog import Connected, World
from tests.support.clock import FakeClock
from tests.support.interrupted import InterruptedStore
from tests.support.mutations import CASES, Case

from ai.floedb.floecat.catalog import constraints_pb2, namespace_pb2, snapshot_pb2, table_pb2
from floecat.catalog.records import CatalogStores
from floecat.errors import (
    AlreadyExistsError,
    ConflictError,
    ContentionError,
    DeadlineExceededError,
    NotFoundError,
)
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import Operation


@pytest.fixture
def kv(clock: FakeClock) -> InterruptedStore:
    return InterruptedStore(MemoryKeyValueStore(clock=clock))


@pytest.fixture
def world(kv: InterruptedStore, clock: FakeClock) -> World:
    return World(CatalogStores(kv, MemoryBlobStore(clock=clock), clock))


@pytest.fixture
def namespace(world: World) -> namespace_pb2.Namespace:
    return world.namespace(world.catalog(), "sales")


@pytest.fixture
def table(world: World, namespace: namespace_pb2.Namespace) -> table_pb2.Table:
    return world.table(namespace, "orders")


def partitions(world: World) -> set[str]:
    return {record.key.partition.partition("/")[0] for record in world.stores.kv.dump()}


def test_constraints_against_deleting_their_snapshot(
    world: World, kv: InterruptedStore, table: table_pb2.Table
) -> None:
    world.snapshot(table, 7)
    delete = snapshot_pb2.DeleteSnapshotRequest(table_id=table.resource_id, snapshot_id=7)
    bundle = constraints_pb2.TableConstraints(table_id=table.resource_id, snapshot_id=7)
    put = constraints_pb2.PutTableConstraintsRequest(constraints=bundle)
    kv.before_commit(lambda: world.call("SnapshotService/DeleteSnapshot", delete))
    with pytest.raises(NotFoundError):
        world.call("TableConstraintsService/PutTableConstraints", put)
    assert "constraints" not in partitions(world)


def test_a_snapshot_against_deleting_its_table(
    world: World, kv: InterruptedStore, table: table_pb2.Table
) -> None:
    delete = table_pb2.DeleteTableRequest(table_id=table.resource_id)

    def delete_and_sweep() -> None:
        world.call("TableService/DeleteTable", delete)
        world.sweep()

    kv.before_commit(delete_and_sweep)
    with pytest.raises(NotFoundError):
        world.snapshot(table, 7)
    assert not {"snapshot", "timeline"} & partitions(world)


def test_a_table_against_a_view_of_its_name(
    world: World, kv: InterruptedStore, namespace: namespace_pb2.Namespace
) -> None:
    kv.before_commit(lambda: world.view(namespace, "orders"))
    with pytest.raises(AlreadyExistsError):
        world.table(namespace, "orders")


def test_a_view_against_a_table_of_its_name(
    world: World, kv: InterruptedStore, namespace: namespace_pb2.Namespace
) -> None:
    kv.before_commit(lambda: world.table(namespace, "orders"))
    with pytest.raises(AlreadyExistsError):
        world.view(namespace, "orders")


def test_a_rename_against_a_view_of_its_name(
    world: World,
    kv: InterruptedStore,
    namespace: namespace_pb2.Namespace,
    table: table_pb2.Table,
) -> None:
    spec = table_pb2.TableSpec(display_name="daily")
    rename = table_pb2.UpdateTableRequest(table_id=table.resource_id, spec=spec)
    kv.before_commit(lambda: world.view(namespace, "daily"))
    with pytest.raises(AlreadyExistsError):
        world.call("TableService/UpdateTable", rename)


class Late(Connected):
    """A client whose deadline has passed."""

    def time_remaining(self) -> float:
        return 0.0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.method)
def test_nothing_is_changed_once_the_deadline_has_passed(world: World, case: Case) -> None:
    request = case.request(world)
    before = list(world.stores.kv.dump())
    with pytest.raises(DeadlineExceededError):
        world.call(case.method, request, client=Late())
    assert list(world.stores.kv.dump()) == before


def test_a_long_walk_ends_with_the_deadline(
    world: World, namespace: namespace_pb2.Namespace
) -> None:
    request = namespace_pb2.ListNamespacesRequest(catalog_id=namespace.catalog_id, recursive=True)
    with pytest.raises(DeadlineExceededError):
        world.call("NamespaceService/ListNamespaces", request, client=Late())


def test_who_loses_every_time_is_told_so(
    world: World, kv: InterruptedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(_operations: Sequence[Operation]) -> None:
        raise ConflictError("p", "s", "absent")

    monkeypatch.setattr(kv, "commit", lose)
    with pytest.raises(ContentionError, match="try again"):
        world.catalog()
