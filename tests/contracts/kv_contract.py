"""What every KeyValueStore promises. A backend subclasses this and says how to open it.

Its fixture `open_store` opens the same records whenever it is called, as more processes would.
"""

from collections.abc import Iterator

import pytest
from tests.contracts.kv_commits import CommitContract
from tests.contracts.kv_expiry import ExpiryContract
from tests.contracts.kv_limits import LimitContract
from tests.contracts.kv_reading import ReadingContract
from tests.contracts.kv_records import OpenStore
from tests.support.clock import FakeClock

from floecat.storage.kv.port import KeyValueStore


class KeyValueStoreContract(ReadingContract, CommitContract, ExpiryContract, LimitContract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[KeyValueStore]:
        opened = open_store()
        yield opened
        opened.close()
