"""Every mutating RPC, on every backend: replays, mismatches, preconditions, races and crashes."""

import itertools
from typing import Any

import pytest
from google.protobuf.message import Message
from tests.support.catalog import World, outside
from tests.support.clock import FakeClock
from tests.support.failing_store import CrashError, FailingKeyValueStore
from tests.support.mutations import CASES, Case
from tests.support.threads import together

from floecat.bootstrap import handlers
from floecat.catalog.mutations import PreconditionFailedError
from floecat.catalog.records import CatalogStores
from floecat.errors import AbortedError, FloecatError
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.port import KeyValueStore

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
    return other


def contents(kv: KeyValueStore) -> dict[object, bytes]:
    return {record.key: record.value for record in kv.dump()}


def test_there_is_a_case_for_every_mutating_rpc(memory_world: World) -> None:
    declared = {
        f"{service.name}/{method.name}"
        for service in handlers(memory_world.stores, outside(memory_world.stores))
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


GUARDED = [c for c in CASES if "Create" not in c.method]


@pytest.mark.parametrize("case", GUARDED, ids=lambda case: case.method)
def test_of_two_with_one_expected_version_one_wins(world: World, case: Case) -> None:
    request: Any = case.request(world)
    request.precondition.expected_version = 1
    answers = together([lambda: world.call(case.method, request)] * 2)
    failures = [answer for answer in answers if isinstance(answer, BaseException)]
    assert len(failures) == 1
    assert isinstance(failures[0], FloecatError)
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


@pytest.mark.slow
@by_method
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_step_leaves_all_or_nothing(
    kv: KeyValueStore, clock: FakeClock, case: Case, after: bool
) -> None:
    """Crash before or after each step in turn; then the same call must have exactly one effect."""
    failing = FailingKeyValueStore(kv)
    stores = CatalogStores(failing, MemoryBlobStore(clock=clock), clock)
    reference = World(stores, name="reference")
    request = keyed(case.request(reference))
    before = len(contents(kv))
    reference.call(case.method, request)
    effect = len(contents(kv)) - before
    for step in itertools.count():
        world = World(stores, name=f"step {step}")
        request = keyed(case.request(world))
        before = len(contents(kv))
        failing.fail_at(step, after=after)
        try:
            world.call(case.method, request)
        except CrashError:
            failing.fail_at(None)
        else:
            break
        left = len(contents(kv)) - before
        assert left in (0, effect), f"step {step}: half done"
        world.call(case.method, request)
        assert len(contents(kv)) - before == effect, f"step {step}: done twice, or not at all"
    failing.fail_at(None)
    assert step > 1
    assert world.findings() == []
