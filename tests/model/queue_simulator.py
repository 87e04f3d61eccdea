"""A seeded life of the queue: workers that work, fail, stall and lie; and what always holds."""

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from uuid import UUID

from tests.support.clock import FakeClock
from tests.support.meddling import Meddling

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.stored_pb2 import (
    OpenSlice,
    PlannedJob,
    StoredJob,
    StoredLease,
)
from floecat.errors import AbortedError
from floecat.reconciler import keys
from floecat.reconciler.jobs import (
    HandedBack,
    JobLease,
    LeasedJob,
    LeaseLostError,
    LeaseSelector,
    NewJob,
    Obsolete,
    Outcome,
    Planned,
    QueueLimits,
    RetryableFailure,
    Stopped,
    Succeeded,
    TerminalFailure,
    child_id,
)
from floecat.reconciler.states import (
    CANCELLED,
    FAILED,
    LEASED,
    QUEUED,
    SUCCEEDED,
    TERMINAL,
    WAITING,
)
from floecat.reconciler.store.durable import DurableReconcileJobStore
from floecat.reconciler.store.sums import ended
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.port import KeyValueStore, Record

KINDS = tuple(kind for kind in messages.ReconcileJobKind.values() if kind)
CHILD_KINDS = {
    messages.PLAN_CONNECTOR: (messages.PLAN_TABLE, messages.PLAN_VIEW),
    messages.PLAN_TABLE: (messages.PLAN_SNAPSHOT,),
    messages.PLAN_SNAPSHOT: (messages.EXEC_FILE_GROUP,),
}
LIMITS = QueueLimits(max_attempts=3)


@dataclass
class Simulation:
    """The queue under test, and what an onlooker remembers of it."""

    kv: KeyValueStore
    seed: int
    clock: FakeClock = field(default_factory=FakeClock)
    patience: int = 2_000
    """How many rounds everything may take to end."""
    check_every: int = 1
    """Steps between two looks at every rule, each of which reads the whole store."""

    torn: bool = True
    """Whether what is read together may be of different moments."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.ids = random.Random(self.seed)
        self.meddling = Meddling(self.kv, self.random, self.meddle, torn=self.torn)
        self.store = DurableReconcileJobStore(
            self.meddling,
            MemoryBlobStore(),
            limits=LIMITS,
            clock=self.clock,
            chance=self.ids,
        )
        self.accounts = [f"account-{number}" for number in range(3)]
        self.held: list[LeasedJob] = []
        self.lost: list[JobLease] = []
        self.results: list[tuple[JobLease, str, bytes, Outcome, int]] = []
        self.epochs: dict[str, int] = defaultdict(int)
        self.ended: dict[str, int] = {}
        self.acknowledged: set[tuple[str, str]] = set()
        self.steps = 0

    def new_id(self) -> UUID:
        """Ids too come from the seed: where rows lie, and so what happens, depends on them."""
        return UUID(bytes=self.ids.randbytes(16), version=4)

    def step(self) -> None:
        actions = {
            self.enqueue: 4,
            self.lease: 12,
            self.settle: 12,
            self.renew: 3,
            self.cancel: 1,
            self.stall: 2,
            self.keep_alive: 2,
            self.pause: 2,
            self.settle_late: 2,
            self.repeat_result: 2,
            self.wait: 3,
            self.work_in_background: 8,
        }
        [action] = self.random.choices(list(actions), list(actions.values()))
        self.take(action)

    def take(self, action: Callable[[], None]) -> None:
        """Do something, with others at work in the middle of it, and look at the rules."""
        self.meddling.begin()
        action()
        self.steps += 1
        if self.steps % self.check_every == 0:
            check_rules(self)

    def meddle(self) -> None:
        """What another process may do between two of our reads, or right before our commit."""
        work = (self.store.reclaim, self.store.expand, self.store.spread_cancellations)
        self.random.choice(work)(5)

    def enqueue(self) -> None:
        policy = messages.ExecutionPolicy(
            execution_class=self.random.choice([0, 1, 2, 3]),  # type: ignore[arg-type]
            execution_lane=self.random.choice(["", "", "gpu"]),
        )
        new = NewJob(
            account_id=self.random.choice(self.accounts),
            kind=messages.PLAN_CONNECTOR,
            task=b"",
            execution_policy=policy,
            fingerprint=self.random.choice(["", "same"]),
            connector_id=self.random.choice(["lake", "pond"]),
        )
        done = self.store.enqueue(new)
        self.acknowledged.add((new.account_id, done.job_id))

    def lease(self) -> None:
        kinds = tuple(self.random.sample(KINDS, self.random.randint(1, len(KINDS))))
        selector = LeaseSelector(executor_id="w", kinds=kinds, lanes=("gpu",))
        before = self.jobs()
        leased = self.store.lease(selector)
        if leased is None:
            return
        self.held.append(leased)
        job = leased.job
        assert job.kind in kinds
        assert leased.lease.epoch > self.epochs[job.job_id], "epochs rise"
        self.epochs[job.job_id] = leased.lease.epoch
        if self.meddling.has_meddled:
            return  # what was before isn't what it was leased from
        known = before[job.account_id, job.job_id]
        assert known.due_ms <= now_ms(self), "not before it is due"
        assert known.attempt < LIMITS.max_attempts
        assert job.attempt == known.attempt + 1
        above = job
        while above.ancestors:
            above = before[job.account_id, above.ancestors[0]]
            assert above.state == WAITING, "nothing of what has ended runs"

    def settle(self) -> None:
        if not self.held:
            return
        leased = self.held.pop(self.random.randrange(len(self.held)))
        outcome = self.outcome(leased.job)
        result_id, fingerprint = self.new_id().hex, self.random.randbytes(4)
        try:
            settled = self.store.settle(leased.lease, result_id, fingerprint, outcome)
        except LeaseLostError:
            return
        assert leased.expires_at > self.clock(), "what has lapsed is lost"
        self.lost.append(leased.lease)
        self.results.append((leased.lease, result_id, fingerprint, outcome, settled.state))

    def outcome(self, job: StoredJob) -> Outcome:
        draw = self.random.random()
        if draw < 0.12:
            return RetryableFailure("it broke")
        if draw < 0.17:
            return TerminalFailure("it can't be")
        if draw < 0.20:
            return Obsolete("it is gone")
        if draw < 0.25:
            return HandedBack()
        if draw < 0.27:
            return Stopped()
        if job.kind in CHILD_KINDS:
            return self.plan(job)
        return Succeeded()

    def plan(self, job: StoredJob) -> Planned:
        count = self.random.choice([0, 1, 2, 3, 5, 20])
        lane = job.kind == messages.PLAN_TABLE and self.random.random() < 0.7
        children = [
            PlannedJob(
                kind=self.random.choice(CHILD_KINDS[job.kind]),
                lane="snapshots of t" if lane else "",
            )
            for _ in range(count)
        ]
        barrier = job.kind == messages.PLAN_SNAPSHOT
        if barrier:
            children.append(PlannedJob(kind=messages.FINALIZE_SNAPSHOT_CAPTURE))
        reference, total = self.store.plans.write(f"plans/{self.new_id().hex}", children)
        return Planned(reference, total, has_barrier=barrier)

    def renew(self) -> None:
        if self.held:
            self._renew(self.random.choice(self.held))

    def _renew(self, leased: LeasedJob) -> None:
        try:
            renewed = self.store.renew(leased.lease)
        except LeaseLostError:
            self.held.remove(leased)
            self.lost.append(leased.lease)
            return
        assert leased.expires_at > self.clock(), "renewing doesn't revive"
        self.held[self.held.index(leased)] = replace(leased, expires_at=renewed.expires_at)

    def cancel(self) -> None:
        jobs = list(self.jobs())
        if jobs:
            account, job_id = self.random.choice(jobs)
            self.store.cancel(account, job_id, "somebody wanted it")

    def stall(self) -> None:
        """A worker says nothing for longer than its lease."""
        self.clock.advance(seconds=31)
        self.store.reclaim(100)

    def keep_alive(self) -> None:
        """Everybody renews in time, past what the first expiry would have been."""
        for _ in range(2):
            for leased in list(self.held):
                self._renew(leased)
            self.clock.advance(seconds=20)
        self.store.reclaim(100)

    def pause(self) -> None:
        """As long, but nobody has noticed yet."""
        self.clock.advance(seconds=self.random.choice([10, 20, 31]))

    def settle_late(self) -> None:
        """A worker that was paused past its lease comes back: nothing changes."""
        if not self.lost:
            return
        before = self.undisturbed()
        try:
            self.store.settle(self.random.choice(self.lost), self.new_id().hex, b"", Succeeded())
        except LeaseLostError:
            assert contents(self.kv) == before
            return
        raise AssertionError("a stale lease was taken")

    def repeat_result(self) -> None:
        if not self.results:
            return
        lease, result_id, fingerprint, outcome, state = self.random.choice(self.results)
        before = self.undisturbed()
        assert self.store.settle(lease, result_id, fingerprint, outcome).state == state
        try:
            self.store.settle(lease, result_id, b"another", outcome)
        except AbortedError:
            assert contents(self.kv) == before
            return
        raise AssertionError("another result under the same id was taken")

    def undisturbed(self) -> dict[object, bytes]:
        """What is there, and nobody meddles with it during this step."""
        self.meddling.rest()
        return contents(self.kv)

    def wait(self) -> None:
        self.clock.advance(seconds=self.random.choice([0.1, 1, 5]))

    def work_in_background(self) -> None:
        work = (self.store.reclaim, self.store.expand, self.store.spread_cancellations)
        self.random.choice(work)(self.random.choice([1, 10]))

    def finish(self) -> None:
        """With faults stopped, everything ends."""
        self.meddling.rest()
        selector = LeaseSelector(executor_id="w", kinds=KINDS, lanes=("gpu",))
        for _ in range(self.patience):
            self.clock.advance(seconds=31)
            self.store.reclaim(1000)
            for _ in range(self.patience):
                if not (self.store.expand(1000) or self.store.spread_cancellations(1000)):
                    break
            for _ in range(self.patience):
                leased = self.store.lease(selector)
                if leased is None:
                    break
                self.store.settle(leased.lease, self.new_id().hex, b"", Succeeded())
            if all(job.state in TERMINAL for job in self.jobs().values()):
                break
        check_rules(self)
        assert all(job.state in TERMINAL for job in self.jobs().values())
        check_outcomes(self.jobs())
        check_sums(self)
        left = {record.key.partition.split("/")[0] for record in self.kv.dump()}
        assert left <= {"job", "result", "gate", "turn", "roots", "runs", "sums", "finished"}

    def forget(self) -> None:
        """Long after, nothing is left of trees that ended."""
        self.clock.advance(hours=25)
        while self.store.expire(1000):
            pass
        left = {record.key.partition.split("/")[0] for record in self.kv.dump()}
        assert left <= {"turn"}

    def jobs(self) -> dict[tuple[str, str], StoredJob]:
        return {
            (record.key.partition.split("/")[1], record.key.sort): StoredJob.FromString(
                record.value
            )
            for record in self.kv.dump()
            if record.key.partition.startswith("job/")
        }


def now_ms(simulation: Simulation) -> int:
    return int(simulation.clock().timestamp() * 1000)


def contents(kv: KeyValueStore) -> dict[object, bytes]:
    return {record.key: record.value for record in kv.dump()}


def check_rules(simulation: Simulation) -> None:
    rows: dict[str, list[Record]] = defaultdict(list)
    for record in simulation.kv.dump():
        rows[record.key.partition.split("/")[0]].append(record)
    jobs = simulation.jobs()
    assert simulation.acknowledged <= set(jobs), "what was acknowledged exists"
    for (account, job_id), job in jobs.items():
        assert (job.account_id, job.job_id) == (account, job_id)
        before = simulation.ended.get(job_id)
        assert before is None or before == job.state, "an end is final"
        if job.state in TERMINAL:
            simulation.ended[job_id] = job.state
        assert job.attempt <= LIMITS.max_attempts
    check_queue(rows, jobs)
    check_leases(rows, jobs)
    check_held(simulation, jobs)
    check_lanes(rows, jobs)
    check_parents(rows, jobs)


def check_outcomes(jobs: "Jobs") -> None:
    """Once all is over, a parent's end is a function of its children's."""
    for (account, job_id), job in jobs.items():
        children = [jobs.get((account, child_id(job_id, n))) for n in range(job.children_total)]
        if not children or job.state == CANCELLED or None in children:
            continue
        states = [child.state for child in children if child is not None]
        fine = [state for state in states if state == SUCCEEDED]
        if job.kind == messages.PLAN_SNAPSHOT:
            check_snapshot_outcome(job, [child for child in children if child is not None])
        elif job.state == FAILED:
            assert not fine, "something below it succeeded"
        else:
            assert fine, "everything below it failed"
            degraded = len(fine) < len(states) or any(
                child is not None and child.outcome_reason == messages.JOR_DEGRADED
                for child in children
            )
            assert (job.outcome_reason == messages.JOR_DEGRADED) == degraded


def check_snapshot_outcome(job: StoredJob, children: list[StoredJob]) -> None:
    """All of it, or nothing; and nothing is no failure if a part of it is gone."""
    whole = all(child.outcome_reason == messages.JOR_DONE for child in children)
    assert (job.outcome_reason == messages.JOR_DONE) == whole
    if job.outcome_reason == messages.JOR_OBSOLETE:
        assert job.state == SUCCEEDED
        gone = [child for child in children if child.outcome_reason == messages.JOR_OBSOLETE]
        assert job.message in {child.message for child in gone}
    elif not whole:
        assert job.state == FAILED
        assert any(child.state in {FAILED, CANCELLED} for child in children)


def check_sums(simulation: "Simulation") -> None:
    """What a root says that was done is what the jobs of its tree did."""
    trees: dict[tuple[str, str], list[StoredJob]] = defaultdict(list)
    for job in simulation.jobs().values():
        trees[job.account_id, job.ancestors[-1] if job.ancestors else job.job_id].append(job)
    for (account, root_id), tree in trees.items():
        root = simulation.store.get(account, root_id)
        counters = ended(root, simulation.store.reading.sums(root)).counters
        skipped = [job for job in tree if job.outcome_reason == messages.JOR_OBSOLETE]
        failed = [job for job in tree if job.state == FAILED]
        assert counters.jobs_total == len(tree)
        cancelled = [job for job in tree if job.state == CANCELLED]
        assert (counters.jobs_failed, counters.jobs_skipped) == (len(failed), len(skipped))
        assert counters.jobs_cancelled == len(cancelled)
        others = len(failed) + len(skipped) + len(cancelled)
        assert counters.jobs_succeeded == len(tree) - others


Rows = dict[str, list[Record]]
Jobs = dict[tuple[str, str], StoredJob]


def check_queue(rows: Rows, jobs: Jobs) -> None:
    """Rows of the queue and queued jobs are the same."""
    ready = {record.key for record in rows["ready"]}
    parked = {record.key for record in rows["parked"]}
    turns = {record.key for record in rows["turn"]}
    expected = {keys.ready(job) for job in jobs.values() if job.state == QUEUED}
    waiting = {keys.parked(job) for job in jobs.values() if job.state == QUEUED and job.lane}
    assert ready <= expected
    assert parked <= waiting
    for job in jobs.values():
        if job.state == QUEUED:
            assert (keys.ready(job) in ready) != (bool(job.lane) and keys.parked(job) in parked)
        if keys.ready(job) in ready and job.state == QUEUED:
            assert keys.turn(job) in turns
    runs = {keys.active(job) for job in jobs.values() if not job.ancestors}
    over = {keys.active(job) for job in jobs.values() if job.state in TERMINAL}
    assert {record.key for record in rows["active"]} == runs - over
    for record in rows["dedupe"]:
        account = record.key.partition.split("/")[1]
        assert jobs[account, record.value.decode()].state not in TERMINAL


def check_leases(rows: Rows, jobs: Jobs) -> None:
    """Who runs has exactly one lease, and the reclaimer will find it."""
    leased = {}
    expiries = {record.key for record in rows["expiry"]}
    for record in rows["lease"]:
        account = record.key.partition.split("/")[1]
        held = StoredLease.FromString(record.value)
        leased[account, record.key.sort] = held
        job = jobs[account, record.key.sort]
        assert job.state in LEASED
        assert job.epoch == held.epoch
        assert keys.expiry(held.filed_ms, account, record.key.sort) in expiries
    running = {key for key, job in jobs.items() if job.state in LEASED}
    assert running == set(leased)


def check_held(simulation: Simulation, jobs: Jobs) -> None:
    """A lease that hasn't lapsed is nobody else's."""
    for leased in simulation.held:
        if leased.expires_at > simulation.clock():
            job = jobs[leased.lease.account_id, leased.lease.job_id]
            assert job.state in LEASED
            assert job.epoch == leased.lease.epoch


def check_lanes(rows: Rows, jobs: Jobs) -> None:
    """A lane has one owner, which is alive; whoever waits for it waits behind that."""
    owners = {}
    for record in rows["lane"]:
        account = record.key.partition.split("/")[1]
        owner = jobs[account, record.value.decode()]
        assert owner.lane == record.key.sort
        assert owner.state not in TERMINAL
        owners[account, record.key.sort] = owner.job_id
    ready = {record.key for record in rows["ready"]}
    for job in jobs.values():
        if job.lane and (job.state in LEASED or keys.ready(job) in ready):
            assert owners[job.account_id, job.lane] == job.job_id, "one at a time"
    for record in rows["parked"]:
        _, account, lane = record.key.partition.split("/", 2)
        assert (account, lane) in owners


def check_parents(rows: Rows, jobs: Jobs) -> None:
    """What a parent counts is what its children are, made or not."""
    opened: dict[tuple[str, str], int] = defaultdict(int)
    for record in rows["open"]:
        _, account, parent = record.key.partition.split("/")
        opened[account, parent] += OpenSlice.FromString(record.value).open
    expanding = {tuple(record.key.sort.split("/")) for record in rows["expand"]}
    for (account, job_id), job in jobs.items():
        children = [jobs.get((account, child_id(job_id, n))) for n in range(job.children_total)]
        made = [child for child in children if child is not None]
        assert children[: len(made)] == made, "children are made in order"
        lineage = [job_id, *job.ancestors]
        assert all(child.ancestors == lineage for child in made), "a child knows its own"
        if job.state != WAITING:
            continue
        if not job.children_total:
            above = jobs[account, job.ancestors[0]]
            assert above.has_barrier, "only the last of a plan waits without children"
            assert above.open_slices > 0
            continue
        counted = children[:-1] if job.has_barrier else children
        alive = [child for child in counted if child is None or child.state not in TERMINAL]
        assert opened[account, job_id] == len(alive)
        assert len(made) == job.children_total or (account, job_id) in expanding
        last = children[-1] if job.has_barrier else None
        assert alive or (job.has_barrier and (last is None or last.state not in TERMINAL))
        if job.kind == messages.PLAN_SNAPSHOT:
            assert not any(child.state in {FAILED, CANCELLED} for child in made)
            assert not any(child.outcome_reason == messages.JOR_OBSOLETE for child in made)
