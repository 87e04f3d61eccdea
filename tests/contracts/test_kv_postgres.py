"""The PostgreSQL backend on a server of our own."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.contracts.ambiguity_contract import AmbiguousCommitContract, HiddenAmbiguityContract
from tests.contracts.kv_contract import KeyValueStoreContract
from tests.contracts.kv_records import OpenStore, key
from tests.support.clock import FakeClock
from tests.support.postgres import Postgres
from tests.support.tcp_proxy import CommitLosingProxy

from floecat.errors import InvalidArgumentError, UnavailableError
from floecat.storage.kv.port import ABSENT, ANY, KeyValueStore, Put
from floecat.storage.kv.postgres import PostgresKeyValueStore

pytestmark = pytest.mark.postgres


class TestPostgres(KeyValueStoreContract):
    @pytest.fixture
    def open_store(self, clock: FakeClock, postgres: Postgres) -> OpenStore:
        dsn = postgres.new_schema()
        patience = timedelta(seconds=20)
        return lambda: PostgresKeyValueStore(dsn, clock=clock, patience=patience)


class TestPostgresAmbiguity(AmbiguousCommitContract, HiddenAmbiguityContract):
    @pytest.fixture
    def dsn(self, postgres: Postgres) -> str:
        return postgres.new_schema()

    @pytest.fixture
    def faults(self, postgres: Postgres) -> Iterator[CommitLosingProxy]:
        proxy = CommitLosingProxy(postgres.socket)
        yield proxy
        proxy.close()

    @pytest.fixture
    def direct(self, dsn: str) -> Iterator[KeyValueStore]:
        store = PostgresKeyValueStore(dsn)
        yield store
        store.close()

    @pytest.fixture
    def store(self, dsn: str, faults: CommitLosingProxy) -> Iterator[KeyValueStore]:
        proxied = f"{dsn} host=127.0.0.1 port={faults.port} sslmode=disable gssencmode=disable"
        store = PostgresKeyValueStore(proxied, patience=timedelta(seconds=2))
        yield store
        store.close()

    def test_dead_connections_are_replaced(
        self, store: KeyValueStore, faults: CommitLosingProxy
    ) -> None:
        for n in range(3):
            faults.cut_all()
            store.commit([Put(key(f"{n}"), b"", ABSENT)])
            faults.cut_all()
            assert store.get(key(f"{n}")) is not None

    def test_a_server_that_is_gone_is_unavailable(
        self, store: KeyValueStore, faults: CommitLosingProxy
    ) -> None:
        faults.refuse()
        faults.cut_all()
        with pytest.raises(UnavailableError):
            store.get(key("a"))
        with pytest.raises(UnavailableError):
            store.commit([Put(key("a"), b"", ANY)])


def test_an_unreachable_server_is_named_at_the_door() -> None:
    with pytest.raises(UnavailableError, match="PostgreSQL"):
        PostgresKeyValueStore(
            "host=127.0.0.1 port=1 dbname=none", patience=timedelta(milliseconds=300)
        )


def test_a_database_that_does_not_exist_is_told_at_once(postgres: Postgres) -> None:
    with pytest.raises(UnavailableError, match='"nowhere" does not exist'):
        PostgresKeyValueStore(f"{postgres.dsn} dbname=nowhere")


def test_a_malformed_connection_string_is_told_at_once() -> None:
    with pytest.raises(InvalidArgumentError, match="connection string"):
        PostgresKeyValueStore("host=x no-such-thing=1")
