"""Rules over sets under concurrency: no orphan, no ring, no lost update, one owner per name."""

import os
import random
from collections.abc import Callable
from functools import partial

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from tests.support.catalog import World
from tests.support.threads import together

from ai.floedb.floecat.catalog import catalog_pb2, namespace_pb2, table_pb2
from floecat.errors import AlreadyExistsError

RACES = 1000 if os.environ.get("SOAK") else 60


def after_reads(world: World, reads: int, call: Callable[[], object]) -> object:
    """Read something some times, then make the call."""
    for _ in range(reads):
        world.call("CatalogService/ListCatalogs", catalog_pb2.ListCatalogsRequest())
    return call()


@pytest.mark.slow
def test_creating_a_child_against_deleting_its_parent(world: World) -> None:
    """Either the child is there and the parent too, or neither: never an orphan."""
    catalog = world.catalog()
    outcomes = set()
    chance = random.Random(7)
    for number in range(RACES):
        parent = world.namespace(catalog, f"n{number}")
        delete = namespace_pb2.DeleteNamespaceRequest(namespace_id=parent.resource_id)
        create = partial(world.table, parent, "t")
        remove = partial(world.call, "NamespaceService/DeleteNamespace", delete)
        # Either goes first now and then, and by more or less, so that they meet everywhere.
        late = chance.randrange(-12, 12)
        calls = [
            partial(after_reads, world, late, create),
            partial(after_reads, world, -late, remove),
        ]
        order = chance.choice([1, -1])
        answers = together(calls[::order])[::order]
        created, deleted = (not isinstance(answer, BaseException) for answer in answers)
        assert created != deleted, answers
        outcomes.add(created)
    assert outcomes == {True, False}, "one of them always won: no race at all"
    assert world.findings() == []


@pytest.mark.slow
def test_creating_a_grandchild_against_a_cascade(world: World) -> None:
    for number in range(RACES // 4):
        catalog = world.catalog(f"c{number}")
        namespace = world.namespace(catalog, "n")
        delete = catalog_pb2.DeleteCatalogRequest(catalog_id=catalog.resource_id, cascade=True)
        calls: list[Callable[[], object]] = [
            partial(world.table, namespace, "t"),
            partial(world.call, "CatalogService/DeleteCatalog", delete),
            world.sweep,
        ]
        together(calls)
        world.sweep()
    assert world.findings() == []
    left = {record.key.partition.split("/")[0] for record in world.stores.kv.dump()}
    assert left <= {"accounts", "resource", "guard", "secrets"}


def test_two_moves_cannot_close_a_ring(world: World) -> None:
    for number in range(RACES // 4):
        catalog = world.catalog(f"c{number}")
        a, b = world.namespace(catalog, "a"), world.namespace(catalog, "b")
        moves = [
            namespace_pb2.UpdateNamespaceRequest(
                namespace_id=moved.resource_id, spec=namespace_pb2.NamespaceSpec(path=[path])
            )
            for moved, path in ((a, "b"), (b, "a"))
        ]
        together([partial(world.call, "NamespaceService/UpdateNamespace", m) for m in moves])
        listing = namespace_pb2.ListNamespacesRequest(
            catalog_id=catalog.resource_id, recursive=True
        )
        listed = world.call("NamespaceService/ListNamespaces", listing).namespaces
        assert sorted(n.display_name for n in listed) == ["a", "b"]


def test_updates_without_a_precondition_lose_nothing(world: World) -> None:
    table = world.table(world.namespace(world.catalog(), "sales"), "orders")

    changes: dict[str, object] = {
        "description": "all of it",
        "location": "s3://lake/orders",
        "schema_json": '{"fields": []}',
        "current_snapshot_id": 5,
        "default_sort_order_id": 3,
        "default_partition_spec_id": 2,
        "format": table_pb2.TF_DELTA,
        "display_name": "renamed",
        "upstream.uri": "s3://upstream",
        "upstream.table_display_name": "there",
    }

    def change(path: str) -> None:
        spec = table_pb2.TableSpec()
        *parents, name = path.split(".")
        target = getattr(spec, parents[0]) if parents else spec
        setattr(target, name, changes[path])
        update = table_pb2.UpdateTableRequest(
            table_id=table.resource_id, spec=spec, update_mask=FieldMask(paths=[path])
        )
        world.call("TableService/UpdateTable", update)

    together([partial(change, path) for path in changes])
    got = table_pb2.GetTableRequest(table_id=table.resource_id)
    response = world.call("TableService/GetTable", got)
    expected = table_pb2.Table()
    expected.CopyFrom(table)
    for path, value in changes.items():
        *parents, name = path.split(".")
        setattr(getattr(expected, parents[0]) if parents else expected, name, value)
    assert response.table == expected
    assert response.meta.version == 1 + len(changes)


def test_a_name_has_one_owner(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    makers: list[Callable[[], object]] = [
        partial(world.table, namespace, "x"),
        partial(world.view, namespace, "x"),
    ]
    answers = together(makers * 4)
    owners = [answer for answer in answers if not isinstance(answer, BaseException)]
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert len(owners) == 1
    assert all(isinstance(error, AlreadyExistsError) for error in refused), refused
    assert world.findings() == []
