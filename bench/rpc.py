"""Calls through gRPC on SQLite beside a bare echo of the same answers, server and client apart.

The echo does nothing but return the bytes that the real call returned, so the ratio is what the
service costs on top of Python's gRPC.

The same requests come again and again while nobody writes: so the reads that have a floor are of a
warm service, which keeps what it has read. Those that say "nothing kept" are of one that forgets
everything at once, and show what a first read costs.
"""

import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from types import ModuleType

import grpc
from google.protobuf.message import Message

import floecat
from ai.floedb.floecat.catalog import directory_pb2, namespace_pb2, table_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest
from bench.report import Measurement, Report
from floecat.bootstrap import Floecat
from floecat.catalog import contents, keys, recall
from floecat.settings.load import load_settings
from floecat.storage import open as storage
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions

TABLES = 2_000
FEW, MANY = 10, 100
THREADS = 4
SECONDS = 1.5
TURNS = 5
READ_FLOOR = 0.5
WRITES = 20

SERVICE = "/ai.floedb.floecat.catalog"


@dataclass(frozen=True)
class Asked:
    """A call to measure."""

    name: str
    method: str
    requests: Callable[[], bytes]
    floor: float | None = None
    beside: "Asked | None" = None
    """A call that somebody else makes meanwhile, `WRITES` times a second."""

    @property
    def cold(self) -> "Asked":
        """The same of a service that keeps nothing."""
        return replace(self, name=f"{self.name}, nothing kept", floor=None)


def serve_floecat(pipe: Connection, folder: str) -> None:
    """A process of its own: the service on SQLite."""
    settings = load_settings(
        {
            "FLOECAT_DATA_DIR": folder,
            "FLOECAT_SERVER_ADDRESS": "127.0.0.1:0",
            "FLOECAT_METRICS_ADDRESS": "",
            "FLOECAT_LOG_LEVEL": "error",
        }
    ).settings
    with Floecat(settings) as service:
        pipe.send(service.port)
        pipe.recv()


def serve_forgetful(pipe: Connection, folder: str) -> None:
    """The service again, but it keeps nothing: neither records nor what came of them."""
    plain = partial(SqliteKeyValueStore, options=SqliteOptions(kept_bytes=0))
    without: list[tuple[ModuleType, str, object]] = [
        (storage, "SqliteKeyValueStore", plain),
        (contents, "_KNOWN_BYTES", 0),
        (recall, "_ROOM_BYTES", 0),
        (keys, "named_resources", keys.named_resources.__wrapped__),
    ]
    for module, name, value in without:
        setattr(module, name, value)
    serve_floecat(pipe, folder)


def serve_echo(pipe: Connection, answer: bytes) -> None:
    """A process of its own: answers everything with the bytes it was given."""

    class Echo(grpc.GenericRpcHandler):
        def service(
            self, details: grpc.HandlerCallDetails
        ) -> "grpc.RpcMethodHandler[bytes, bytes]":
            return grpc.unary_unary_rpc_method_handler(
                lambda _request, _context: answer,
                request_deserializer=bytes,
                response_serializer=bytes,
            )

    server = grpc.server(ThreadPoolExecutor(2), handlers=[Echo()])  # as many as the service takes
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    pipe.send(port)
    pipe.recv()
    server.stop(0).wait()


@contextmanager
def process(target: Callable[..., None], argument: object) -> Iterator[int]:
    """Run a server in a process; the port it listens on."""
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(target=target, args=(theirs, argument))
    child.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        child.join()


class Load:
    """Calls one method over and over from a few threads."""

    def __init__(self, port: int, method: str, requests: Callable[[], bytes]) -> None:
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self._call = self._channel.unary_unary(
            f"{SERVICE}.{method}", request_serializer=bytes, response_deserializer=bytes
        )
        self._requests = requests

    def answer(self) -> bytes:
        return bytes(self._call(self._requests()))

    @contextmanager
    def repeated(self) -> Iterator[None]:
        """Call it now and then, for as long as the context lasts."""
        over = Event()

        def go_on() -> None:
            while not over.wait(1 / WRITES):
                self._call(self._requests())

        thread = Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def run(self) -> list[float]:
        """The time of every call within the seconds, slowest last."""
        with ThreadPoolExecutor(THREADS) as pool:
            until = time.perf_counter() + SECONDS
            runs = [pool.submit(self._until, until) for _ in range(THREADS)]
            return sorted(seconds for run in runs for seconds in run.result())

    def _until(self, until: float) -> list[float]:
        times = []
        while (started := time.perf_counter()) < until:
            self._call(self._requests())
            times.append(time.perf_counter() - started)
        return times


def furnish(port: int) -> list[Asked]:
    """Fill the service; what to ask it."""
    with floecat.connect(f"127.0.0.1:{port}") as clients:
        resolve = directory_pb2.ResolveCatalogRequest(name=NameRef(catalog="main"))
        catalog_id = clients.directory.ResolveCatalog(resolve).resource_id
        spec = namespace_pb2.NamespaceSpec(catalog_id=catalog_id, display_name="sales")
        made = clients.namespaces.CreateNamespace(namespace_pb2.CreateNamespaceRequest(spec=spec))
        namespace_id = made.namespace.resource_id

        def create(number: int) -> table_pb2.CreateTableRequest:
            return table_pb2.CreateTableRequest(
                spec=table_pb2.TableSpec(
                    namespace_id=namespace_id,
                    display_name=f"t{number:07}",
                    schema_json='{"type": "struct", "fields": []}',
                )
            )

        for number in range(TABLES):
            table = clients.tables.CreateTable(create(number)).table
    name = NameRef(catalog="main", path=["sales"], name="t0000500")
    few, many = (
        table_pb2.ListTablesRequest(namespace_id=namespace_id, page=PageRequest(page_size=size))
        for size in (FEW, MANY)
    )
    fresh = count(TABLES)
    get = table_pb2.GetTableRequest(table_id=table.resource_id)
    resolve_table = directory_pb2.ResolveTableRequest(name=name)
    tables, directory = "TableService", "DirectoryService"
    create_table = Asked(
        "CreateTable", f"{tables}/CreateTable", lambda: serialized(create(next(fresh)))
    )
    page = Asked(f"ListTables, {MANY} a page", f"{tables}/ListTables", fixed(many), READ_FLOOR)
    return [
        Asked("GetTable", f"{tables}/GetTable", fixed(get), READ_FLOOR),
        Asked("ResolveTable", f"{directory}/ResolveTable", fixed(resolve_table), READ_FLOOR),
        Asked(f"ListTables, {FEW} a page", f"{tables}/ListTables", fixed(few), READ_FLOOR),
        page,
        # Every write to the listed namespace makes the next page be read anew.
        replace(
            page, name=f"{page.name}, {WRITES} writes/s there", floor=None, beside=create_table
        ),
        create_table,
    ]


def serialized(request: Message) -> bytes:
    return request.SerializeToString()


def fixed(request: Message) -> Callable[[], bytes]:
    data = serialized(request)
    return lambda: data


def compared(asked: Asked, service: Load, echo: Load, beside: Load | None) -> Report:
    """One method beside the echo of its answer, in turns."""
    ratios, times = [], []
    for _ in range(TURNS):
        alone = echo.run()
        with beside.repeated() if beside else nullcontext():
            ours = service.run()
        ratios.append(len(ours) / len(alone))
        times += ours
    times.sort()
    name = asked.name
    return [
        Measurement(f"{name}, calls", len(times) / (TURNS * SECONDS), "per second"),
        Measurement(f"{name}, p50", times[len(times) // 2] * 1000, "ms"),
        Measurement(f"{name}, p99", times[int(len(times) * 0.99)] * 1000, "ms"),
        Measurement(f"{name} / echo", statistics.median(ratios), "ratio", asked.floor),
    ]


def measure() -> Report:
    build = Path.cwd() / "build"
    build.mkdir(exist_ok=True)
    report: Report = []
    with tempfile.TemporaryDirectory(dir=build) as folder, process(serve_floecat, folder) as port:
        everything = furnish(port)
        for asked in everything:
            report += beside_echo(port, asked)
        with process(serve_forgetful, folder) as forgetful:
            for asked in everything:
                if asked.floor:
                    report += beside_echo(forgetful, asked.cold)
    return report


def beside_echo(port: int, asked: Asked) -> Report:
    """One method of a service, compared with the echo of what it answers."""
    load = Load(port, asked.method, asked.requests)
    with process(serve_echo, load.answer()) as echo_port:
        echo = Load(echo_port, asked.method, asked.requests)
        writer = asked.beside
        beside = Load(port, writer.method, writer.requests) if writer else None
        return compared(asked, load, echo, beside)
