"""What every secrets store does."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from floecat.security.secret import Secret
from floecat.security.secrets.port import SecretMissingError, SecretsStore, new_reference
from floecat.storage.kv.port import Operation

CONTENT = Secret(b"canary \x00\xff content")
Commit = Callable[[tuple[Operation, ...]], None]


class SecretsStoreContract:
    @pytest.fixture
    def store(self) -> SecretsStore:
        raise NotImplementedError

    @pytest.fixture
    def commit(self) -> Commit:
        raise NotImplementedError

    @pytest.fixture
    def account(self) -> str:
        return uuid4().hex

    def test_what_is_put_is_got(self, store: SecretsStore, commit: Commit, account: str) -> None:
        reference = new_reference("connector/c")
        commit(store.put(account, reference, CONTENT))
        assert store.get(account, reference) == CONTENT

    def test_what_isnt_there_is_missing(self, store: SecretsStore, account: str) -> None:
        with pytest.raises(SecretMissingError, match="give the credentials again"):
            store.get(account, "connector/c/none")
        store.delete(account, "connector/c/none")

    def test_accounts_are_apart(self, store: SecretsStore, commit: Commit, account: str) -> None:
        reference = new_reference("connector/c")
        commit(store.put(account, reference, CONTENT))
        with pytest.raises(SecretMissingError):
            store.get("other", reference)

    def test_what_is_removed_is_gone(
        self, store: SecretsStore, commit: Commit, account: str
    ) -> None:
        reference = new_reference("connector/c")
        commit(store.put(account, reference, CONTENT))
        commit(store.remove(account, reference))
        store.delete(account, reference)
        with pytest.raises(SecretMissingError):
            store.get(account, reference)

    def test_listing_tells_what_there_is(
        self, store: SecretsStore, commit: Commit, account: str
    ) -> None:
        references = {new_reference(f"connector/{number}") for number in range(3)}
        for reference in references:
            commit(store.put(account, reference, CONTENT))
        found = [info for info in store.list() if info.account == account]
        assert {info.reference for info in found} == references
        now = datetime.now(UTC)
        assert all(abs(now - info.created_at) < timedelta(minutes=5) for info in found)
