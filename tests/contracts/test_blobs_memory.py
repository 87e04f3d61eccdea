"""The memory backend."""

from datetime import UTC, datetime

import pytest
from tests.contracts.blob_contract import BlobStoreContract, Corrupt, OpenBlobs

from floecat.storage.blobs.memory import MemoryBlobStore, _Blob


class TestMemory(BlobStoreContract):
    @pytest.fixture
    def memory(self) -> MemoryBlobStore:
        return MemoryBlobStore()

    @pytest.fixture
    def open_store(self, memory: MemoryBlobStore) -> OpenBlobs:
        return lambda: memory

    @pytest.fixture
    def corrupt(self, memory: MemoryBlobStore) -> Corrupt:
        def change(name: str, content: bytes) -> None:
            memory._blobs[name] = _Blob(content, datetime.now(UTC))

        return change
