"""Attachments that no message could hold: written and read in streams, whole or not at all."""

import collections
import hashlib
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry
from tests.support.principals import Anyone
from tests.support.service import connected, running_service
from tests.support.waiting import PATIENCE_SECONDS

import floecat
from ai.floedb.floecat.catalog import (
    catalog_pb2,
    namespace_pb2,
    snapshot_pb2,
    snapshot_pb2_grpc,
    table_pb2,
)
from ai.floedb.floecat.catalog.snapshot_pb2 import WriteSnapshotAttachmentRequest as Piece
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey, ResourceId, SnapshotRef
from floecat.bootstrap import Floecat
from floecat.errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    InvalidArgumentError,
    NotFoundError,
)
from floecat.service.calls import Call
from floecat.service.endpoints import Surroundings
from floecat.service.metrics import CallMetrics
from floecat.service.server import Server, ServerConfig

LARGE = bytes(range(256)) * 40_000  # 10 MB
SMALL = b"small"


@pytest.fixture
def table_id(clients: floecat.GrpcClients, request: pytest.FixtureRequest) -> ResourceId:
    return new_table(clients, request.node.name)


def new_table(clients: floecat.GrpcClients, name: str) -> ResourceId:
    """A table of the test's own, with snapshot 7."""
    catalogs = clients.catalogs.ListCatalogs(catalog_pb2.ListCatalogsRequest()).catalogs
    spec = namespace_pb2.NamespaceSpec(catalog_id=catalogs[0].resource_id, display_name=name)
    made = clients.namespaces.CreateNamespace(namespace_pb2.CreateNamespaceRequest(spec=spec))
    table = table_pb2.TableSpec(namespace_id=made.namespace.resource_id, display_name="t")
    created = clients.tables.CreateTable(table_pb2.CreateTableRequest(spec=table)).table
    snapshot = snapshot_pb2.SnapshotSpec(
        table_id=created.resource_id, snapshot_id=7, attachments={"inline": SMALL}
    )
    clients.snapshots.CreateSnapshot(snapshot_pb2.CreateSnapshotRequest(spec=snapshot))
    return created.resource_id


def pieces(table_id: ResourceId, content: bytes, cut: int, key: str = "") -> Iterator[Piece]:
    once = IdempotencyKey(key=key) if key else None
    yield Piece(table_id=table_id, snapshot_id=7, name="large", idempotency=once)
    for at in range(0, len(content), cut):
        yield Piece(data=content[at : at + cut])


def read(clients: floecat.GrpcClients, table_id: ResourceId, name: str) -> bytes:
    request = snapshot_pb2.ReadSnapshotAttachmentRequest(
        table_id=table_id, snapshot_id=7, name=name
    )
    return b"".join(piece.data for piece in clients.snapshots.ReadSnapshotAttachment(request))


def test_what_is_larger_than_a_message_comes_back(
    clients: floecat.GrpcClients, table_id: ResourceId
) -> None:
    written = clients.snapshots.WriteSnapshotAttachment(pieces(table_id, LARGE, 1_000_000))
    assert read(clients, table_id, "large") == LARGE
    assert read(clients, table_id, "inline") == SMALL
    infos = {info.name: info for info in written.snapshot.attachment_infos}
    assert sorted(infos) == ["inline", "large"]
    assert infos["large"].sha256 == hashlib.sha256(LARGE).hexdigest()
    assert infos["large"].size_bytes == len(LARGE)
    assert written.meta.version == 2
    get = snapshot_pb2.GetSnapshotRequest(table_id=table_id, snapshot=SnapshotRef(snapshot_id=7))
    assert clients.snapshots.GetSnapshot(get).meta == written.meta
    with pytest.raises(AlreadyExistsError):
        clients.snapshots.WriteSnapshotAttachment(pieces(table_id, LARGE, 1_000_000))


def test_a_replay_may_be_cut_otherwise(clients: floecat.GrpcClients, table_id: ResourceId) -> None:
    write = clients.snapshots.WriteSnapshotAttachment
    first = write(pieces(table_id, LARGE, 1_000_000, "k"))
    again = write(pieces(table_id, LARGE, 999_983, "k"))
    assert again.SerializeToString(deterministic=True) == first.SerializeToString(
        deterministic=True
    )
    with pytest.raises(AbortedError):
        write(pieces(table_id, LARGE[:-1], 1_000_000, "k"))


def test_a_stream_that_breaks_off_leaves_nothing(
    service: Floecat, clients: floecat.GrpcClients, table_id: ResourceId
) -> None:
    break_off(service.port, table_id)
    clients.snapshots.WriteSnapshotAttachment(pieces(table_id, SMALL, 100))
    assert read(clients, table_id, "large") == SMALL


class Counting:
    """Takes streams to their end, and counts those that had one."""

    def __init__(self) -> None:
        self.seen = 0
        self.whole = 0

    def __getattr__(self, name: str) -> Callable[[Any, Call], Any]:
        def handle(requests: Iterator[Piece], _call: Call) -> Any:
            self.seen += 1
            collections.deque(requests, maxlen=0)
            self.whole += 1
            return snapshot_pb2.WriteSnapshotAttachmentResponse()

        return handle


@pytest.mark.parametrize("promised", [False, True])
def test_no_stream_that_breaks_off_looks_whole(promised: bool) -> None:
    """Many, as gRPC shows only one in twenty as ended. One thread: they are over one by one."""
    handler = Counting()
    config = ServerConfig(address="127.0.0.1:0", stream_threads=1, grace=timedelta(seconds=1))
    snapshots = snapshot_pb2.DESCRIPTOR.services_by_name["SnapshotService"]
    around = Surroundings(Anyone(), CallMetrics(CollectorRegistry()))
    server = Server(config, {snapshots: handler}, around)
    server.start()
    try:
        for _ in range(200):
            break_off(server.port, ResourceId(id="t"), says_last=promised)
        with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            stub = snapshot_pb2_grpc.SnapshotServiceStub(channel)
            stub.WriteSnapshotAttachment(pieces(ResourceId(id="t"), SMALL, 3))
    finally:
        server.stop()
    assert handler.seen > 100, "most were begun"
    assert handler.whole == 1


def break_off(port: int, table_id: ResourceId, *, says_last: bool = False) -> None:
    """Send all pieces but not the end, and be gone."""
    sent = threading.Event()
    go_on = threading.Event()

    def breaking_off() -> Iterator[Piece]:
        first, *rest = pieces(table_id, SMALL, 3)
        first.says_last = says_last
        yield first
        yield from rest
        sent.set()
        go_on.wait(PATIENCE_SECONDS)

    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = snapshot_pb2_grpc.SnapshotServiceStub(channel)
        call = stub.WriteSnapshotAttachment.future(breaking_off())
        assert sent.wait(PATIENCE_SECONDS), "all pieces are sent"
        call.cancel()
        go_on.set()


def test_a_stream_may_say_where_it_ends(clients: floecat.GrpcClients, table_id: ResourceId) -> None:
    write = clients.snapshots.WriteSnapshotAttachment
    end = Piece(last=True)
    first = write(iter([*pieces(table_id, SMALL, 2, "end"), end]))
    assert read(clients, table_id, "large") == SMALL
    assert write(pieces(table_id, SMALL, 3, "end")) == first, "where it ends isn't what it brings"
    with pytest.raises(InvalidArgumentError, match="goes on after"):
        write(iter([Piece(table_id=table_id, snapshot_id=7, name="more", last=True), end]))
    promising = Piece(table_id=table_id, snapshot_id=7, name="more", says_last=True)
    with pytest.raises(CancelledError, match="last message hasn't come"):
        write(iter([promising, Piece(data=SMALL)]))
    with pytest.raises(NotFoundError):
        read(clients, table_id, "more")
    write(iter([promising, Piece(data=SMALL), end]))
    assert read(clients, table_id, "more") == SMALL


def test_a_stream_that_brings_nothing_is_ended(tmp_path: Path) -> None:
    """Else as many such streams as there are threads would keep everybody else out."""
    over = threading.Event()

    def silent(table_id: ResourceId) -> Iterator[Piece]:
        yield Piece(table_id=table_id, snapshot_id=7, name="large")
        over.wait(30)

    settings = {"server_streams_idle": "200ms", "server_threads_streams": "2"}
    with running_service(tmp_path, **settings) as service, connected(service) as clients:
        table_id = new_table(clients, "silent")
        with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
            stub = snapshot_pb2_grpc.SnapshotServiceStub(channel)
            calls = [stub.WriteSnapshotAttachment.future(silent(table_id)) for _ in range(6)]
            for call in calls:
                assert call.code() is grpc.StatusCode.DEADLINE_EXCEEDED
                assert "nothing for 0.2 s" in call.details()
            over.set()
        clients.snapshots.WriteSnapshotAttachment(pieces(table_id, SMALL, 100))
        assert read(clients, table_id, "large") == SMALL
    assert not [t for t in threading.enumerate() if t.name == "floecat-upload"]


def test_a_slow_stream_is_not_ended(tmp_path: Path) -> None:
    running = running_service(tmp_path, server_streams_idle="1s")
    with running as service, connected(service) as clients:
        table_id = new_table(clients, "slow")

        def slow() -> Iterator[Piece]:
            for piece in pieces(table_id, SMALL, 1):
                threading.Event().wait(0.3)
                yield piece

        clients.snapshots.WriteSnapshotAttachment(slow())
        assert read(clients, table_id, "large") == SMALL


def test_only_the_first_message_says_what_it_is(
    clients: floecat.GrpcClients, table_id: ResourceId
) -> None:
    (first, second) = pieces(table_id, SMALL, 100)
    second.name = "other"
    with pytest.raises(InvalidArgumentError, match="only the first"):
        clients.snapshots.WriteSnapshotAttachment(iter([first, second]))
    with pytest.raises(InvalidArgumentError, match="empty"):
        clients.snapshots.WriteSnapshotAttachment(iter([]))
