"""Where a connector's relations go: found or made, written back, and an error when it can't be."""

from typing import Any

import pytest
from tests.support.catalog import World
from tests.support.reconciling import Reconciling, table_chunk

from ai.floedb.floecat.catalog import catalog_pb2, directory_pb2, view_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, ResourceId
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.connector.connector_pb2 import Connector, DestinationTarget
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.errors import ConflictError, NotFoundError
from floecat.storage.kv.port import ANY, Operation, Put


def connector(plane: Reconciling) -> Connector:
    request = connector_pb2.GetConnectorRequest(connector_id=plane.connector)
    found: Connector = plane.world.call("Connectors/GetConnector", request).connector
    return found


def into(world: World, **target: Any) -> Reconciling:
    return Reconciling(world, world.connector("wired", destination=DestinationTarget(**target)))


def resolve(world: World, catalog: str, *path: str) -> ResourceId:
    *namespaces, name = path
    request = directory_pb2.ResolveRelationRequest(
        name=NameRef(catalog=catalog, path=namespaces, name=name)
    )
    found: ResourceId = world.call("DirectoryService/ResolveRelation", request).resource_id
    return found


def test_a_catalog_by_name_is_made_and_written_back(world: World) -> None:
    plane = into(world, catalog_display_name="mirror", namespace_path=["raw", "lake"])
    plane.mirror("sales.orders")
    assert resolve(world, "mirror", "raw", "lake", "sales", "orders").id
    target = connector(plane).destination
    assert target.catalog_id.id
    assert target.namespace_id.id
    version = connector(plane)
    plane.mirror("sales.orders")
    assert connector(plane).destination == version.destination


def test_a_connector_with_one_table_may_name_it(world: World) -> None:
    plane = into(world, catalog_display_name="mirror", table_display_name="bestellungen")
    plane.mirror("sales.orders")
    assert resolve(world, "mirror", "sales", "bestellungen").id


def test_a_catalog_that_is_gone_is_the_connectors_error_until_it_is_mended(world: World) -> None:
    plane = into(world, catalog_display_name="mirror")
    plane.mirror("sales.orders")
    bound = connector(plane).destination.catalog_id
    request = catalog_pb2.DeleteCatalogRequest(catalog_id=bound, cascade=True)
    world.call("CatalogService/DeleteCatalog", request)
    job = plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    assert plane.job(job).state == messages.RJS_FAILED
    assert "doesn't exist any more" in plane.job(job).message
    assert connector(plane).state == connector_pb2.CS_ERROR
    assert "doesn't exist any more" in connector(plane).state_message
    mended = connector_pb2.UpdateConnectorRequest(
        connector_id=plane.connector,
        spec=connector_pb2.ConnectorSpec(
            destination=DestinationTarget(catalog_display_name="another")
        ),
    )
    world.call("Connectors/UpdateConnector", mended)
    plane.mirror("sales.orders")
    assert connector(plane).state == connector_pb2.CS_ACTIVE
    assert not connector(plane).state_message
    assert resolve(world, "another", "sales", "orders").id


def test_a_name_that_isnt_the_ids_is_a_mismatch(world: World) -> None:
    main = world.catalog("main")
    plane = into(world, catalog_id=main.resource_id, catalog_display_name="elsewhere")
    job = plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    assert plane.job(job).state == messages.RJS_FAILED
    assert "'elsewhere'" in connector(plane).state_message
    with pytest.raises(NotFoundError):
        resolve(world, "elsewhere", "sales", "orders")


def test_a_connector_that_changes_meanwhile_isnt_written_over(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = into(world, catalog_display_name="mirror")
    plane.start(mode=messages.METADATA_ONLY)
    lease = plane.lease().lease
    commit = world.stores.kv.commit
    changed = connector_pb2.UpdateConnectorRequest(
        connector_id=plane.connector,
        spec=connector_pb2.ConnectorSpec(description="changed meanwhile"),
    )
    pending = [changed]

    def meddled(operations: list[Operation]) -> None:
        writes_it = any(
            isinstance(operation, Put)
            and operation.key.sort.endswith(plane.connector.id)
            and operation.expect is not ANY
            for operation in operations
        )
        if writes_it and pending:
            world.call("Connectors/UpdateConnector", pending.pop())
        commit(operations)

    monkeypatch.setattr(world.stores.kv, "commit", meddled)
    with pytest.raises(ConflictError):
        plane.plan_connector(lease, ["sales.orders"])
    plane.plan_connector(lease, ["sales.orders"])  # as a worker does, which is told to try again
    assert connector(plane).description == "changed meanwhile"
    assert connector(plane).destination.catalog_id.id


def test_a_view_is_updated_in_place(plane: Reconciling) -> None:
    def run(sql: str) -> messages.ReconcileCounters:
        job = plane.start(mode=messages.METADATA_ONLY)
        plane.plan_connector(plane.lease().lease, [], ["sales.daily"])
        leased = plane.lease(messages.PLAN_VIEW)
        definition = view_pb2.ViewSqlDefinition(dialect="spark", sql=sql)
        chunk = wire.PlanViewChunk(view=view_pb2.ViewSpec(sql_definitions=[definition]))
        request = wire.SubmitLeasedPlanViewResultRequest
        closing = wire.PlanResultSummary(result_id=leased.lease.job_id.id)
        plane.submit(
            "PlanView",
            [
                request(lease=leased.lease, chunk=chunk),
                request(lease=leased.lease, success=closing),
            ],
        )
        return plane.job(job).counters

    assert run("select 1").views_changed == 1
    before = resolve(plane.world, "lake", "sales", "daily")
    assert run("select 1").views_changed == 0
    assert run("select 2").views_changed == 1
    assert resolve(plane.world, "lake", "sales", "daily") == before
    request = view_pb2.GetViewRequest(view_id=before)
    found = plane.world.call("ViewService/GetView", request).view
    assert [definition.sql for definition in found.sql_definitions] == ["select 2"]


def test_a_plan_of_more_than_fits_memory_comes_in_pieces(plane: Reconciling) -> None:
    names = [f"sales.t{number:05}" for number in range(3000)]
    job = plane.start(mode=messages.METADATA_ONLY)
    lease = plane.lease().lease
    request = wire.SubmitLeasedPlanConnectorResultRequest
    chunks = [
        request(
            lease=lease,
            chunk=wire.PlanConnectorChunk(
                tables=[
                    wire.PlannedRelation(
                        source=messages.SourceRelation(
                            namespace=messages.NamespacePath(segments=["sales"]),
                            name=name + "x" * 200,
                        )
                    )
                    for name in names[start : start + 500]
                ]
            ),
        )
        for start in range(0, len(names), 500)
    ]
    closing = wire.PlanResultSummary(result_id="many", items_total=len(names))
    plane.submit("PlanConnector", [*chunks, request(lease=lease, success=closing)])
    plane.spread()
    assert plane.job(job).counters.jobs_total == len(names) + 1
    plane.plan_table(plane.lease().lease, table_chunk("t"))
    assert not plane.problems()
