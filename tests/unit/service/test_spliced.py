"""Listings are put together from stored bytes; they must say what reading one by one says."""

import pytest
from google.protobuf.message import Message
from tests.support.catalog import World

from ai.floedb.floecat.catalog import catalog_pb2, namespace_pb2, table_pb2, view_pb2
from ai.floedb.floecat.catalog.stored_pb2 import SerializedPage
from ai.floedb.floecat.connector import connector_pb2
from floecat.catalog.records import CatalogStores
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore

LISTINGS: list[type[Message]] = [
    catalog_pb2.ListCatalogsResponse,
    namespace_pb2.ListNamespacesResponse,
    table_pb2.ListTablesResponse,
    view_pb2.ListViewsResponse,
    connector_pb2.ListConnectorsResponse,
]


@pytest.fixture
def world() -> World:
    return World(CatalogStores(MemoryKeyValueStore(), MemoryBlobStore()))


@pytest.mark.parametrize("response", LISTINGS, ids=lambda r: r.DESCRIPTOR.name)
def test_a_listing_has_the_shape_that_rows_are_spliced_into(response: type[Message]) -> None:
    fields = response.DESCRIPTOR.fields
    rows, page = SerializedPage.DESCRIPTOR.fields
    assert [field.number for field in fields] == [rows.number, page.number]
    assert fields[0].message_type is not None
    assert fields[0].is_repeated
    assert fields[1].message_type is page.message_type


def test_rows_read_as_one_by_one(world: World) -> None:
    catalog = world.catalog()
    outer = world.namespace(catalog, "sales")
    inner = [world.namespace(catalog, name, "sales") for name in ("eu", "us")]
    large = '{"type": "struct", "fields": [], "doc": "' + "x" * 100_000 + '"}'  # lies in a blob
    tables = [
        world.table(outer, "a", schema_json=large, properties={"z": "1", "a": "2"}),
        world.table(outer, "b", location="s3://b", format=table_pb2.TF_DELTA),
    ]
    views = [world.view(outer, "v")]
    its_tables = table_pb2.ListTablesRequest(namespace_id=outer.resource_id)
    its_views = view_pb2.ListViewsRequest(namespace_id=outer.resource_id)
    below = namespace_pb2.ListNamespacesRequest(namespace_id=outer.resource_id)
    everything = namespace_pb2.ListNamespacesRequest(catalog_id=catalog.resource_id, recursive=True)

    def listed(method: str, request: Message) -> list[Message]:
        return list(world.call(method, request).ListFields()[0][1])

    assert listed("CatalogService/ListCatalogs", catalog_pb2.ListCatalogsRequest()) == [catalog]
    assert listed("NamespaceService/ListNamespaces", below) == inner
    assert inner[0].parents == ["sales"]
    assert listed("NamespaceService/ListNamespaces", everything) == [outer, *inner]
    assert listed("TableService/ListTables", its_tables) == tables
    assert listed("ViewService/ListViews", its_views) == views
