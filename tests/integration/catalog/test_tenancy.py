"""Every RPC × every id field × an id of another account: answered as if it didn't exist."""

from collections.abc import Iterator
from typing import Any, cast
from uuid import uuid4

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from tests.support.catalog import Connected, World, outside
from tests.support.identities import Furniture, Path, id_paths, requests, with_id
from tests.support.mutations import connector_spec

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector import connector_pb2
from floecat.bootstrap import services
from floecat.catalog.records import CatalogStores
from floecat.errors import FloecatError
from floecat.service.calls import Call
from floecat.service.principals import Principal
from floecat.service.spliced import Spliced
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore

REQUESTS = requests()

KEPT_AS_WRITTEN = frozenset({"connector_id", "referenced_table_id"})
"""Ids inside specifications that are kept without being looked up: one of our own needn't exist.
A foreign one is refused all the same, whether it exists or not."""


REPORTS = frozenset({"DirectoryService/LookupResources", "Connectors/ValidateConnector"})
"""Answers that say how each thing asked about stands, instead of failing: these are compared."""


def new_world() -> World:
    return World(CatalogStores(MemoryKeyValueStore(), MemoryBlobStore()), name="ours")


def rpcs() -> Iterator[MethodDescriptor]:
    stores = new_world().stores
    for service in services(stores, outside(stores)).handlers:
        yield from service.methods


def method_name(rpc: MethodDescriptor) -> str:
    return f"{rpc.containing_service.name}/{rpc.name}"


FOR_WORKERS = "ReconcileExecutorControl"
"""Workers work for every account; who may call it is decided by their permission alone."""

UNKNOWN_MEANS_NOTHING = frozenset(
    {"ReconcileControl/GetFinalizedSnapshotStatus", "ReconcileControl/ListReconcileJobs"}
)
"""Answered as if nothing had happened yet, whatever the id."""

PLACES = [
    (method_name(rpc), path)
    for rpc in rpcs()
    for path in id_paths(rpc.input_type)
    if rpc.containing_service.name != FOR_WORKERS
]


def test_every_rpc_that_takes_an_id_has_a_request_to_try() -> None:
    assert {method for method, _ in PLACES} <= set(REQUESTS)
    assert len(PLACES) > len(REQUESTS)


def kind_at(request: Message, path: Path) -> Any:
    """The kind that an id has there."""
    by_field = {
        "connector_id": common_pb2.RK_CONNECTOR,
        "referenced_table_id": common_pb2.RK_TABLE,
        "table_ids": common_pb2.RK_TABLE,
        "view_ids": common_pb2.RK_VIEW,
        "job_id": common_pb2.RK_RECONCILE_JOB,
        "parent_job_id": common_pb2.RK_RECONCILE_JOB,
    }
    present: Any = request
    for name in path:
        present = getattr(present, name)
        if hasattr(present, "add"):
            present = present[0] if len(present) else ResourceId()
        if isinstance(present, ResourceId):
            break
    last = path[-1]
    kinds = {f"{k.removeprefix('RK_').lower()}_id": v for k, v in common_pb2.ResourceKind.items()}
    kind = getattr(present, "kind", 0) or by_field.get(last) or kinds.get(last)
    assert kind, f"which kind is {path}?"
    return kind


def asked(world: World, method: str, request: Message, *unknown: str) -> tuple[object, ...]:
    """What somebody who isn't an administrator is answered, but for the ids themselves."""
    service, _, name = method.partition("/")
    principal = Principal(world.account_id, "tester", frozenset(["developer"]))
    call = Call(method, "test", {}, principal, cast("grpc.ServicerContext", Connected()))
    try:
        argument = iter([request]) if method in world.client_streams else request
        answer = getattr(world.services[service], name)(argument, call)
        if isinstance(answer, Iterator):
            list(answer)
    except FloecatError as error:
        return tuple(
            without(text, unknown)
            for text in (
                error.code,
                error.reason,
                error.message,
                str(sorted(error.metadata.items())),
            )
        )
    shown = answer.decoded() if isinstance(answer, Spliced) else answer
    if hasattr(shown, "elapsed"):
        shown.ClearField("elapsed")
    return ("OK", without(str(shown), unknown) if method in REPORTS else "")


def without(text: str, ids: tuple[str, ...]) -> str:
    for identifier in ids:
        text = text.replace(identifier, "…")
    return text


def named(part: str | Path) -> str:
    return part if isinstance(part, str) else ".".join(part)


@pytest.mark.parametrize("method", sorted({method for method, _ in PLACES}))
def test_the_request_itself_succeeds(method: str) -> None:
    world = new_world()
    assert asked(world, method, REQUESTS[method](Furniture(world)))[0] == "OK"


@pytest.mark.parametrize(("method", "path"), PLACES, ids=named)
def test_a_foreign_id_reads_like_none(method: str, path: Path) -> None:
    world = new_world()
    theirs = Furniture(World(world.stores, name="theirs"))
    request = REQUESTS[method](Furniture(world))
    if (method, path[0]) == ("Connectors/ValidateConnector", "spec"):  # or a connector to be
        request = connector_pb2.ValidateConnectorRequest(spec=connector_spec(uri="file:///lake"))
    kind = kind_at(request, path)
    foreign = theirs.by_kind.get(kind, ResourceId(account_id=theirs.account.id, id=str(uuid4())))
    nowhere = str(uuid4())

    def answer(account_id: str, identifier: str) -> tuple[object, ...]:
        value = ResourceId(account_id=account_id, id=identifier, kind=kind)
        probe = with_id(request, path, value)
        return asked(world, method, probe, identifier, account_id, world.account_id)

    exists = answer(foreign.account_id, foreign.id)
    assert exists[0] != "OK" or method in REPORTS | UNKNOWN_MEANS_NOTHING
    assert answer(foreign.account_id, nowhere) == exists
    assert answer(nowhere, nowhere) == exists
    if KEPT_AS_WRITTEN.isdisjoint(path) or path == ("connector_id",):
        assert answer(world.account_id, nowhere) == exists
        assert answer(world.account_id, foreign.id) == exists
