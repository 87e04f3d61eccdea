"""What a store behind a network promises when a commit's request or answer is lost.

A backend's `store` goes through `faults`; its `direct` reaches the same records without them.
"""

import pytest
from tests.contracts.kv_records import key, put_all, value_of, version_of
from tests.support.faults import CommitFaults

from floecat.errors import ConflictError
from floecat.storage.kv.port import ABSENT, ANY, Check, Delete, KeyValueStore, Put


class AmbiguousCommitContract:
    def test_a_lost_answer_is_settled_as_done(
        self, store: KeyValueStore, faults: CommitFaults
    ) -> None:
        put_all(store, ["a", "b", "c"])
        versions = [version_of(store, key(sort)) for sort in "abc"]
        faults.lose_next_reply()
        store.commit(
            [
                Put(key("a"), b"new", versions[0]),
                Delete(key("b"), versions[1]),
                Check(key("c"), versions[2]),
                Put(key("d"), b"created", ABSENT),
            ]
        )
        assert faults.lost == 1
        found = {record.key.sort: record.value for record in store.scan("p", limit=9)}
        assert found == {"a": b"new", "c": b"c", "d": b"created"}

    def test_a_lost_request_is_sent_again(self, store: KeyValueStore, faults: CommitFaults) -> None:
        put_all(store, ["a"])
        faults.lose_next_request()
        store.commit([Put(key("a"), b"new", version_of(store, key("a")))])
        assert faults.lost == 1
        assert value_of(store, key("a")) == b"new"

    def test_a_lost_request_that_others_overtook_conflicts(
        self, store: KeyValueStore, direct: KeyValueStore, faults: CommitFaults
    ) -> None:
        put_all(store, ["a"])
        version = version_of(store, key("a"))
        faults.lose_next_request(lambda: direct.commit([Put(key("a"), b"theirs", version)]))
        with pytest.raises(ConflictError):
            store.commit([Put(key("a"), b"ours", version)])
        assert faults.lost == 1
        assert value_of(store, key("a")) == b"theirs"

    def test_an_unconditional_write_is_not_repeated_over_a_later_one(
        self, store: KeyValueStore, direct: KeyValueStore, faults: CommitFaults
    ) -> None:
        """The second write followed ours; sending ours again would undo it."""
        faults.lose_next_reply(lambda: direct.commit([Put(key("a"), b"later", ANY)]))
        store.commit([Put(key("a"), b"ours", ANY), Put(key("b"), b"ours", ANY)])
        assert faults.lost == 1
        assert value_of(store, key("a")) == b"later"
        assert value_of(store, key("b")) == b"ours"


class HiddenAmbiguityContract:
    """Cases where nothing readable is left of our commit: the server itself must remember it."""

    def test_a_lost_answer_is_settled_though_all_was_overwritten(
        self, store: KeyValueStore, direct: KeyValueStore, faults: CommitFaults
    ) -> None:
        faults.lose_next_reply(lambda: direct.commit([Put(key("a"), b"later", ANY)]))
        store.commit([Put(key("a"), b"ours", ABSENT)])
        assert faults.lost == 1
        assert value_of(store, key("a")) == b"later"

    def test_a_lost_answer_to_a_deletion_is_settled(
        self, store: KeyValueStore, faults: CommitFaults
    ) -> None:
        put_all(store, ["a"])
        faults.lose_next_reply()
        store.commit([Delete(key("a"), version_of(store, key("a")))])
        assert faults.lost == 1
        assert store.get(key("a")) is None
