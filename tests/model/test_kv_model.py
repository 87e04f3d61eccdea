"""Any sequence of operations leaves a KeyValueStore as it leaves a plain dict."""

import os
import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.support.clock import FakeClock
from typing_extensions import override

from floecat.errors import ConflictError
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    Check,
    Delete,
    Expectation,
    Key,
    KeyValueStore,
    Operation,
    Put,
    Record,
)
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions

MORE = 20 if os.environ.get("SOAK") else 1

parts = st.text(st.sampled_from("ab\0é\uffff\U0010ffff"), min_size=1, max_size=3)
keys = st.builds(Key, st.sampled_from(["p", "q\0"]), parts)
lives = st.one_of(st.none(), st.integers(-2, 20))
wishes = st.sampled_from(["any", "absent", "current", "stale", "right"])
changes = st.tuples(
    st.sampled_from(["put", "delete", "check"]), wishes, st.binary(max_size=5), lives
)
commits = st.dictionaries(keys, changes, max_size=6)


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.store = self.open()
        self.model: dict[Key, Record] = {}
        self.versions: set[int] = set()

    def open(self) -> KeyValueStore:
        return MemoryKeyValueStore(clock=self.clock)

    def live(self) -> dict[Key, Record]:
        now = self.clock.now
        return {
            key: record
            for key, record in self.model.items()
            if record.expires_at is None or record.expires_at > now
        }

    @rule(changes=commits)
    def commit(self, changes: dict[Key, Any]) -> None:
        operations = [self.operation(key, *change) for key, change in changes.items()]
        failed = next((op for op in operations if not self.holds(op)), None)
        refused: Key | None = None
        try:
            self.store.commit(operations)
        except ConflictError as error:
            refused = Key(error.partition, error.sort)
        assert refused == (failed and failed.key)
        if refused is not None:
            return
        for operation in operations:
            self.apply(operation)

    def operation(
        self, key: Key, kind: str, wish: str, value: bytes, life: int | None
    ) -> Operation:
        expect = self.expectation(key, wish)
        if kind == "delete":
            return Delete(key, expect)
        if kind == "check":
            return Check(key, expect)
        expires_at: datetime | None = None
        if life is not None:
            expires_at = self.clock.now + timedelta(seconds=life)
        return Put(key, value, expect, expires_at)

    def expectation(self, key: Key, wish: str) -> Expectation:
        current = self.live().get(key)
        if wish == "right":
            return ABSENT if current is None else current.version
        if wish == "current" and current is not None:
            return current.version
        if wish == "stale":
            return min(self.versions - {current.version if current else 0}, default=17)
        return ABSENT if wish == "absent" else ANY

    def holds(self, operation: Operation) -> bool:
        if operation.expect is ANY:
            return True
        current = self.live().get(operation.key)
        if operation.expect is ABSENT:
            return current is None
        return current is not None and current.version == operation.expect

    def apply(self, operation: Operation) -> None:
        if isinstance(operation, Delete):
            self.model.pop(operation.key, None)
        if not isinstance(operation, Put):
            return
        self.model.pop(operation.key, None)
        clock, self.clock.now = self.clock.now, datetime.min.replace(tzinfo=self.clock.now.tzinfo)
        written = self.store.get(operation.key)  # seen even if it has expired already
        self.clock.now = clock
        assert written is not None
        assert (written.value, written.expires_at) == (operation.value, operation.expires_at)
        assert written.version not in self.versions, "a version was used again"
        self.versions.add(written.version)
        self.model[operation.key] = written

    @rule(
        partition=st.sampled_from(["p", "q\0", "none"]),
        prefix=st.one_of(st.just(""), parts),
        after=st.one_of(st.none(), st.just(""), parts),
        limit=st.integers(1, 8),
        reverse=st.booleans(),
    )
    def scan(
        self, partition: str, prefix: str, after: str | None, limit: int, reverse: bool
    ) -> None:
        matching = [
            record
            for key, record in self.live().items()
            if key.partition == partition
            and key.sort.startswith(prefix)
            and (after is None or (key.sort < after if reverse else key.sort > after))
        ]
        matching.sort(key=lambda record: record.key.sort.encode(), reverse=reverse)
        found = self.store.scan(partition, prefix, after=after, limit=limit, reverse=reverse)
        assert list(found) == matching[:limit]

    @rule(wanted=st.lists(keys, max_size=5))
    def get_many(self, wanted: list[Key]) -> None:
        assert list(self.store.get_many(wanted)) == [self.live().get(key) for key in wanted]

    @rule(seconds=st.integers(1, 10))
    def time_passes(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)

    @rule(limit=st.integers(1, 3))
    def sweep(self, limit: int) -> None:
        expired = self.model.keys() - self.live().keys()
        assert self.store.sweep(limit) == min(limit, len(expired))
        self.store.sweep(len(self.model) + 1)
        self.model = self.live()

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        expected = sorted(self.live().values(), key=lambda record: record.key)
        assert sorted(self.store.dump(), key=lambda record: record.key) == expected

    @override
    def teardown(self) -> None:
        self.store.close()


class SqliteMachine(StoreMachine):
    @override
    def open(self) -> KeyValueStore:
        self.folder = Path(tempfile.mkdtemp(prefix="floecat-model-"))
        options = SqliteOptions(synchronous="OFF")
        return SqliteKeyValueStore(self.folder / "store.db", options=options, clock=self.clock)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        options = SqliteOptions(synchronous="OFF")
        self.store = SqliteKeyValueStore(
            self.folder / "store.db", options=options, clock=self.clock
        )

    @override
    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


_BRIEF = settings(deadline=None, suppress_health_check=list(HealthCheck), stateful_step_count=30)

TestMemoryModel = StoreMachine.TestCase
TestMemoryModel.settings = settings(_BRIEF, max_examples=60 * MORE)
TestSqliteModel = SqliteMachine.TestCase
TestSqliteModel.settings = settings(_BRIEF, max_examples=30 * MORE)
