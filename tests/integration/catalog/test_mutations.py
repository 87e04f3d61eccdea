"""Every mutating RPC, on every backend: replays, mismatches, preconditions, races and crashes."""

import itertools
import re
from collections import Counter
from functools import partial
from typing import Any, cast

import pytest
from google.protobuf.message import Message
from tests.support.catalog import World, outside
from tests.support.clock import FakeClock
from tests.support.failing_store import (
    CrashError,
    FailingBlobStore,
    FailingKeyValueStore,
    Steps,
)
from tests.support.mutations import CASES, Case
from tests.support.threads import together

from ai.floedb.floecat.catalog import snapshot_pb2, table_pb2
from ai.floedb.floecat.catalog.stored_pb2 import StoredResponse
from ai.floedb.floecat.common.common_pb2 import SnapshotRef
from ai.floedb.floecat.execution.stored_pb2 import StoredOverlay
from floecat.bootstrap import services
from floecat.catalog.mutations import PreconditionFailedError
from floecat.catalog.records import CatalogStores
from floecat.errors import AbortedError, AlreadyExistsError, FloecatError, NotFoundError
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.blobs.port import BlobStore
from floecat.storage.kv.port import Key, KeyValueStore

by_method = pytest.mark.parametrize("case", CASES, ids=lambda case: case.method)
MUTATING = ("Create", "Update", "Delete", "Put", "Merge", "Append", "Add", "Write")


def keyed(request: Any, key: str = "once") -> Any:
    request.idempotency.key = key
    return request


def changed(request: Any) -> Any:
    """The same request with something else in it."""
    other = type(request)()
    other.CopyFrom(request)
    if hasattr(other, "spec"):
        other.spec.properties["other"] = "request"
    elif hasattr(other, "precondition"):
        other.precondition.expected_etag = "other"
    elif hasattr(other, "records"):
        other.records[0].properties["other"] = "request"
    return other


def contents(kv: KeyValueStore) -> "Content":
    return {record.key: record.value for record in kv.dump()}


def test_there_is_a_case_for_every_mutating_rpc(memory_world: World) -> None:
    declared = {
        f"{service.name}/{method.name}"
        for service in services(memory_world.stores, outside(memory_world.stores)).handlers
        for method in service.methods
        if method.name.startswith(MUTATING)
    }
    assert {case.method for case in CASES} == declared


@by_method
def test_a_replay_gives_the_same_bytes_and_changes_nothing(world: World, case: Case) -> None:
    request = keyed(case.request(world))
    first: Message = world.call(case.method, request)
    before = contents(world.stores.kv)
    again: Message = world.call(case.method, request)
    assert again.SerializeToString(deterministic=True) == first.SerializeToString(
        deterministic=True
    )
    assert contents(world.stores.kv) == before
    assert world.findings() == []


@by_method
def test_another_request_under_the_same_key_is_refused(world: World, case: Case) -> None:
    request = keyed(case.request(world))
    world.call(case.method, request)
    before = contents(world.stores.kv)
    with pytest.raises(AbortedError) as refusal:
        world.call(case.method, changed(request))
    assert refusal.value.reason == "IDEMPOTENCY_MISMATCH"
    assert contents(world.stores.kv) == before


@by_method
def test_a_key_is_remembered_for_a_day(world: World, case: Case, clock: FakeClock) -> None:
    request = keyed(case.request(world))
    answer = world.call(case.method, request)
    clock.advance(hours=23, minutes=59)
    assert world.call(case.method, request) == answer


@by_method
def test_a_key_is_forgotten_after_a_day(world: World, case: Case, clock: FakeClock) -> None:
    request = keyed(case.request(world))
    world.call(case.method, request)
    clock.advance(hours=24, seconds=1)
    other = changed(request)
    if hasattr(other, "precondition"):
        other.ClearField("precondition")
    reasons = []
    try:
        world.call(case.method, other)
    except FloecatError as error:
        reasons.append(error.reason)
    assert "IDEMPOTENCY_MISMATCH" not in reasons


@by_method
def test_concurrent_replays_have_one_effect(world: World, case: Case) -> None:
    request = keyed(case.request(world))
    answers = together([lambda: world.call(case.method, request)] * 6)
    serialized = {
        answer.SerializeToString(deterministic=True)
        for answer in answers
        if isinstance(answer, Message)
    }
    assert [a for a in answers if isinstance(a, BaseException)] == []
    assert len(serialized) == 1
    assert world.findings() == []


STREAMED = frozenset(
    {"TableStatisticsService/PutTargetStats", "TableIndexService/PutIndexArtifacts"}
)
"""Streams of records, each of which replaces what is there: there is no version to expect."""
GUARDED = [c for c in CASES if "Create" not in c.method and c.method not in STREAMED]
CREATIONS = [c for c in CASES if "Create" in c.method]


def signed(request: Any, by: str) -> Any:
    """The same request with a change that tells whose it was; a deletion is nobody's."""
    copy = type(request)()
    copy.CopyFrom(request)
    if isinstance(copy, snapshot_pb2.CreateSnapshotRequest):
        copy.spec.summary["by"] = by
    elif hasattr(copy, "spec"):
        copy.spec.description = by
        if hasattr(copy, "update_mask") and copy.update_mask.paths:
            copy.update_mask.paths.append("description")
    elif hasattr(copy, "settings"):
        copy.settings.properties["by"] = by
    elif hasattr(copy, "constraints"):
        copy.constraints.properties["by"] = by
    elif hasattr(copy, "constraint"):
        copy.constraint.properties["by"] = by
    elif hasattr(copy, "data"):
        copy.data = by.encode() * 50_000
    return copy


def read_again(world: World, request: Any, kind: str) -> Message | None:
    """What is there now of what the request was about."""
    service = {
        "constraints": "TableConstraintsService",
        "connector": "Connectors",
        "settings": "ReconcileControl",
    }
    names = {"constraints": "TableConstraints", "settings": "ReconcilerSettings"}
    name = names.get(kind, kind.capitalize())
    target = getattr(request, "constraints", request)
    fields = {
        field.name: value
        for field, value in target.ListFields()
        if field.name in ("table_id", f"{kind}_id") and field.message_type is not None
    }
    if kind in ("constraints", "snapshot"):
        fields["snapshot"] = SnapshotRef(snapshot_id=7)
    method = f"{service.get(kind, f'{name}Service')}/Get{name}"
    get = world.request_type(method)(**fields)
    try:
        return cast("Message", getattr(world.call(method, get), kind))
    except NotFoundError:
        return None


def removes_whole(case: Case) -> bool:
    """Whether nothing is left whose version could be another than the expected one."""
    return "/Delete" in case.method and not case.method.endswith("/DeleteTableConstraint")


def test_every_rpc_but_creations_and_streams_takes_a_precondition(memory_world: World) -> None:
    guarded = {
        case.method
        for case in CASES
        if "precondition" in memory_world.request_type(case.method).DESCRIPTOR.fields_by_name
    }
    assert guarded == {case.method for case in GUARDED}


@pytest.mark.parametrize("case", CREATIONS, ids=lambda case: case.method)
def test_of_two_creations_of_the_same_one_wins(world: World, case: Case) -> None:
    request: Any = case.request(world)
    signatures = ("by-alpha", "by-omega")
    requests = [signed(request, by) for by in signatures]
    answers = together([partial(world.call, case.method, r) for r in requests])
    (failure,) = [answer for answer in answers if isinstance(answer, BaseException)]
    assert isinstance(failure, AlreadyExistsError), failure
    assert failure.reason.endswith("_EXISTS")
    (winner,) = [place for place, a in enumerate(answers) if not isinstance(a, BaseException)]
    answer: Any = answers[winner]
    assert answer.meta.version == 1
    assert signatures[winner] in str(answer)
    assert signatures[1 - winner] not in str(list(contents(world.stores.kv).values()))
    assert world.findings() == []


def test_an_update_and_a_deletion_that_expect_one_version(world: World) -> None:
    """Whichever comes first, the other is told: the version is another, or there is none."""
    namespace = world.namespace(world.catalog(), "sales")
    for number in range(20):
        table = world.table(namespace, f"t{number}")
        update = table_pb2.UpdateTableRequest(
            table_id=table.resource_id, spec=table_pb2.TableSpec(description="changed")
        )
        delete = table_pb2.DeleteTableRequest(table_id=table.resource_id)
        update.precondition.expected_version = delete.precondition.expected_version = 1
        updated, deleted = together(
            [
                partial(world.call, "TableService/UpdateTable", update),
                partial(world.call, "TableService/DeleteTable", delete),
            ]
        )
        if isinstance(updated, BaseException):
            assert isinstance(updated, NotFoundError), updated
            assert not isinstance(deleted, BaseException)
        else:
            assert isinstance(deleted, PreconditionFailedError), deleted
            assert deleted.current.version == 2


@pytest.mark.parametrize("case", GUARDED, ids=lambda case: case.method)
def test_of_two_with_one_expected_version_one_wins(world: World, case: Case) -> None:
    request: Any = case.request(world)
    request.precondition.expected_version = 1
    signatures = ("by-alpha", "by-omega")
    requests = [signed(request, by) for by in signatures]
    answers = together([partial(world.call, case.method, r) for r in requests])
    (failure,) = [answer for answer in answers if isinstance(answer, BaseException)]
    if removes_whole(case):
        assert isinstance(failure, NotFoundError), failure
        assert failure.reason.endswith("_NOT_FOUND")
    else:
        assert isinstance(failure, PreconditionFailedError), failure
        assert failure.reason == "PRECONDITION_FAILED"
        assert failure.current.version == 2
    (winner,) = [place for place, a in enumerate(answers) if not isinstance(a, BaseException)]
    answer: Any = answers[winner]
    shown = [field.name for field in answer.DESCRIPTOR.fields if field.name != "meta"]
    if shown:
        (kind,) = shown
        now = read_again(world, requests[winner], kind)
        assert now == getattr(answer, kind)
        assert signatures[1 - winner] not in str(now)
        assert signatures[winner] in str(now) or hasattr(request, "constraint_name")
    else:
        kind = case.method.partition("/")[2].removeprefix("Delete").removeprefix("Table")
        assert read_again(world, request, kind.lower() or "table") is None
    assert world.findings() == []


@pytest.mark.parametrize("case", GUARDED, ids=lambda case: case.method)
def test_a_failed_precondition_says_what_is_there(world: World, case: Case) -> None:
    request: Any = case.request(world)
    before = contents(world.stores.kv)
    request.precondition.expected_version = 41
    with pytest.raises(PreconditionFailedError) as refusal:
        world.call(case.method, request)
    assert refusal.value.current.version == 1
    assert refusal.value.current.etag
    assert contents(world.stores.kv) == before


RANDOM = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b|[0-9a-f]{32}")
"""Ids, hashes over ids and names of blobs: other ones every time."""


def nameless(key: Key, value: bytes) -> tuple[bytes, bytes]:
    """A record without what differs from one run to the next."""
    if key.partition.startswith("idempotency/"):
        stored = StoredResponse.FromString(value)
        stored.request_fingerprint = b""
        value = stored.SerializeToString(deterministic=True)
    if key.partition.startswith("overlay/"):
        overlay = StoredOverlay.FromString(value)
        for layer in overlay.layers:  # it has checksums over names of blobs in it
            layer.ClearField("content")
        value = overlay.SerializeToString(deterministic=True)
    if key.partition.startswith("secret/"):
        value = b"%d encrypted bytes" % len(value)
    where = "/".join(key).encode()
    where = re.sub(rb"^(guard/.*/|sweep/)\d\d", rb"\1", where)  # slices by hash of an id
    return RANDOM.sub(b"?", where), RANDOM.sub(b"?", value)


Content = dict[Key, bytes]


def difference(before: Content, after: Content) -> Counter[tuple[str, tuple[bytes, bytes]]]:
    """What was written and what removed, without what differs from one run to the next."""
    written = [("written", nameless(k, v)) for k, v in after.items() if before.get(k) != v]
    removed = [("removed", nameless(k, v)) for k, v in before.items() if k not in after]
    return Counter(written + removed)


@pytest.mark.slow
@by_method
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_step_leaves_all_or_nothing(
    kv: KeyValueStore, clock: FakeClock, case: Case, after: bool
) -> None:
    """Crash before or after each step in turn; then the same call must have exactly one effect."""
    steps = Steps()
    blobs = FailingBlobStore(MemoryBlobStore(clock=clock), steps)
    stores = CatalogStores(FailingKeyValueStore(kv, steps), cast("BlobStore", blobs), clock)
    reference = World(stores, name="reference")
    request = keyed(case.request(reference))
    before = contents(kv)
    reference.call(case.method, request)
    whole = difference(before, contents(kv))
    for step in itertools.count():
        world = World(stores, name=f"step {step}")
        request = keyed(case.request(world))
        before = contents(kv)
        steps.fail_at(step, after=after)
        try:
            world.call(case.method, request)
        except CrashError:
            steps.fail_at(None)
        else:
            break
        left = contents(kv)
        assert left == before or difference(before, left) == whole, f"step {step}: half done"
        world.call(case.method, request)
        now = contents(kv)
        assert difference(before, now) == whole, f"step {step}: done twice, or not at all"
        assert left in (before, now), f"step {step}: what was done was done again"
    steps.fail_at(None)
    assert step > 1
    assert world.findings() == []
