"""The secrets stores."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.secrets_contract import CONTENT, Commit, SecretsStoreContract
from tests.support.moto import Moto

from floecat.errors import DataLossError, UnavailableError
from floecat.security.secret import Secret
from floecat.security.secrets.aws import AwsSecretsStore
from floecat.security.secrets.keyfile import KeyFileError, read_key
from floecat.security.secrets.local import LocalSecretsStore, forget_secrets, has_secrets
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ANY, Key, Put

KEY = Secret(bytes(range(32)))


class TestLocal(SecretsStoreContract):
    @pytest.fixture
    def kv(self) -> MemoryKeyValueStore:
        return MemoryKeyValueStore()

    @pytest.fixture
    def store(self, kv: MemoryKeyValueStore) -> LocalSecretsStore:
        return LocalSecretsStore(kv, KEY)

    @pytest.fixture
    def commit(self, kv: MemoryKeyValueStore) -> Commit:
        def commit(operations: tuple[object, ...]) -> None:
            kv.commit(list(operations))  # type: ignore[arg-type]

        return commit

    def test_nothing_lies_there_in_the_clear(
        self, kv: MemoryKeyValueStore, store: LocalSecretsStore, commit: Commit
    ) -> None:
        commit(store.put("a", "r/1", CONTENT))
        commit(store.put("a", "r/2", CONTENT))
        values = [record.value for record in kv.dump()]
        assert not any(b"canary" in value for value in values)
        assert len(set(values)) == len(values), "equal secrets don't look equal"

    def test_a_ciphertext_is_worth_nothing_elsewhere(
        self, kv: MemoryKeyValueStore, store: LocalSecretsStore, commit: Commit
    ) -> None:
        commit(store.put("a", "r/1", CONTENT))
        stolen = kv.get(Key("secret/a", "r/1"))
        assert stolen is not None
        for place in (Key("secret/b", "r/1"), Key("secret/a", "r/2")):
            kv.commit([Put(place, stolen.value, ANY)])
        for account, reference in (("b", "r/1"), ("a", "r/2")):
            with pytest.raises(DataLossError):
                store.get(account, reference)

    @pytest.mark.parametrize("place", [0, 3, 12, -1])
    def test_a_changed_record_is_noticed(
        self, kv: MemoryKeyValueStore, store: LocalSecretsStore, commit: Commit, place: int
    ) -> None:
        commit(store.put("a", "r/1", CONTENT))
        record = kv.get(Key("secret/a", "r/1"))
        assert record is not None
        changed = bytearray(record.value)
        changed[place] ^= 1
        kv.commit([Put(record.key, bytes(changed), ANY)])
        with pytest.raises(DataLossError, match="give the credentials again"):
            store.get("a", "r/1")

    def test_another_key_is_refused_at_once(self, kv: MemoryKeyValueStore) -> None:
        LocalSecretsStore(kv, KEY)
        LocalSecretsStore(kv, KEY)
        with pytest.raises(KeyFileError, match="restore it from a backup"):
            LocalSecretsStore(kv, Secret(bytes(32)))


class TestAws(SecretsStoreContract):
    @pytest.fixture
    def store(self, moto: Moto, aws_environment: None) -> Iterator[AwsSecretsStore]:
        store = AwsSecretsStore("floecat/test", region="eu-west-1", endpoint=moto.endpoint)
        yield store
        store.close()

    @pytest.fixture
    def commit(self) -> Commit:
        def commit(operations: tuple[object, ...]) -> None:
            assert operations == (), "a store elsewhere has written already"

        return commit

    def test_an_endpoint_that_isnt_there(self, aws_environment: None) -> None:
        store = AwsSecretsStore("p", region="eu-west-1", endpoint="http://127.0.0.1:1")
        with pytest.raises(UnavailableError, match="can't be reached"):
            store.get("a", "r")
        store.close()


class TestKeyFile:
    def test_it_is_made_once_and_only_for_us(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "secrets.key"
        key = read_key(path)
        assert read_key(path) == key
        assert path.stat().st_mode & 0o777 == 0o600
        assert list(path.parent.iterdir()) == [path]

    def test_processes_that_start_at_once_agree(self, tmp_path: Path) -> None:
        keys: list[Secret[bytes]] = []
        starts = threading.Barrier(8)

        def start() -> None:
            starts.wait()
            keys.append(read_key(tmp_path / "secrets.key"))

        threads = [threading.Thread(target=start) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(keys) == 8
        assert len(set(keys)) == 1

    def test_one_that_others_can_read_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "secrets.key"
        read_key(path)
        os.chmod(path, 0o640)  # noqa: PTH101
        with pytest.raises(KeyFileError, match="chmod 600"):
            read_key(path)

    def test_half_a_key_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "secrets.key"
        read_key(path)
        path.write_bytes(b"short")
        with pytest.raises(KeyFileError, match="5 bytes instead of 32"):
            read_key(path)


def test_a_lost_key_isnt_made_anew_over_secrets(tmp_path: Path) -> None:
    kv = MemoryKeyValueStore()
    path = tmp_path / "secrets.key"
    store = LocalSecretsStore(kv, read_key(path, may_make=not has_secrets(kv)))
    kv.commit(list(store.put("a", "r/1", CONTENT)))
    path.unlink()
    with pytest.raises(KeyFileError, match="forget-secrets"):
        read_key(path, may_make=not has_secrets(kv))
    assert not path.exists()
    assert forget_secrets(kv) == 1
    again = LocalSecretsStore(kv, read_key(path, may_make=not has_secrets(kv)))
    assert list(again.list()) == []


def test_a_folder_isnt_a_key(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="isn't a file"):
        read_key(tmp_path)
