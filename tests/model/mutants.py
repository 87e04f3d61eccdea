"""Bugs planted on purpose, each a line of a method changed. The simulator must notice every one."""

import inspect
import sys
import textwrap
from dataclasses import dataclass
from typing import Any

import pytest

from floecat.reconciler.store.background import Background
from floecat.reconciler.store.durable import DurableReconcileJobStore as Store
from floecat.reconciler.store.leasing import Leasing
from floecat.reconciler.store.queue import ReadyQueue
from floecat.reconciler.store.settling import Settlement


@dataclass(frozen=True)
class Mutant:
    """A method with another line in it."""

    what: str
    owner: type
    method: str
    old: str
    new: str

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        source = textwrap.dedent(inspect.getsource(getattr(self.owner, self.method)))
        assert self.old in source, f"{self.what}: the line isn't there any more"
        namespace = dict(vars(sys.modules[self.owner.__module__]))
        exec(source.replace(self.old, self.new, 1), namespace)
        planted: Any = namespace[self.method]
        patch.setattr(self.owner, self.method, planted)


MUTANTS = [
    Mutant(
        "a stale epoch is taken",
        Leasing, "require", "held.epoch != lease.epoch or ", "",
    ),
    Mutant(
        "an expired lease is taken",
        Leasing, "require", " or held.expires_ms <= self._now_ms()", "",
    ),
    Mutant(
        "epochs don't rise",
        Leasing, "_hand_out", "max(job.epoch + 1, self._incarnation << 40)", "1",
    ),
    Mutant(
        "attempts aren't counted",
        Leasing, "_hand_out", "job.attempt += 1", "pass",
    ),
    Mutant(
        "jobs are leased before they are due",
        Leasing, "_try", "if due_ms > self._now_ms():", "if False:",
    ),
    Mutant(
        "a lease has no expiry row",
        Leasing, "_hand_out",
        'tx.put(keys.expiry(expires, job.account_id, job.job_id), b"")', "pass",
    ),
    Mutant(
        "a ready row stays after the lease",
        Leasing, "_try", "tx.delete(ready)", "pass",
    ),
    Mutant(
        "a settled lease stays",
        Leasing, "drop", "tx.delete(keys.lease(job.account_id, job.job_id))", "pass",
    ),
    Mutant(
        "a turn row is forgotten while its partition fills",
        ReadyQueue, "_put", 'tx.put(keys.turn(job), _NOTHING)', "pass",
    ),
    Mutant(
        "lanes are ignored",
        ReadyQueue, "admit", "if not job.lane or self._take(tx, job):", "if True:",
    ),
    Mutant(
        "a lane is never given on",
        ReadyQueue, "release", "if not job.lane or self._owner(tx, job) != job.job_id:", "if True:",
    ),
    Mutant(
        "a parked row stays behind",
        ReadyQueue, "release", "tx.delete(keys.parked(following))", "pass",
    ),
    Mutant(
        "a cancelled job stays in the queue",
        ReadyQueue, "withdraw", "tx.delete(keys.ready(job))", "pass",
    ),
    Mutant(
        "children aren't counted down",
        Settlement, "_count", "part.open -= 1", "pass",
    ),
    Mutant(
        "a slice that is done isn't told to the parent",
        Settlement, "_count", "parent.open_slices -= 1", "pass",
    ),
    Mutant(
        "a failed group doesn't fail its snapshot",
        Settlement, "_tell_parent", "parent.kind in _STRICT and child.state != SUCCEEDED", "False",
    ),
    Mutant(
        "a snapshot goes on without a group that is gone",
        Settlement, "_tell_parent", "child.outcome_reason == messages.JOR_OBSOLETE", "False",
    ),
    Mutant(
        "what is left of an obsolete snapshot goes on",
        Settlement, "end", " or reason == messages.JOR_OBSOLETE", "",
    ),
    Mutant(
        "what ends after its parent isn't counted",
        Settlement, "_tell_parent", "self._add_late(tx, parent, done)", "pass",
    ),
    Mutant(
        "a run that has ended stays active",
        Settlement, "_end_tree", "tx.delete(keys.active(job))", "pass",
    ),
    Mutant(
        "the barrier runs before its siblings",
        Settlement, "may_run", "return not waits or parent.open_slices == 0", "return True",
    ),
    Mutant(
        "the barrier never opens",
        Settlement, "_open_barrier", "barrier.state == WAITING", "False",
    ),
    Mutant(
        "a failed parent's children aren't told",
        Settlement, "_stop_children",
        'tx.put(keys.cancellation(job.account_id, job.job_id), b"0")', "pass",
    ),
    Mutant(
        "children don't know what they belong to",
        Background, "_expand", "[job_id, *parent.ancestors]", "[job_id]",
    ),
    Mutant(
        "an identical request joins one that has ended",
        Settlement, "forget_request", "tx.delete(row)", "pass",
    ),
    Mutant(
        "a renewed lease is reclaimed",
        Background, "_reclaim", "if held.expires_ms > self._now_ms():", "if False:",
    ),
    Mutant(
        "the cursor of a plan doesn't move",
        Background, "_expand", "cursor.next_ordinal += 1", "pass",
    ),
    Mutant(
        "cancelling stops after the first page",
        Background, "_spread", "if end < parent.children_total:", "if False:",
    ),
    Mutant(
        "what belongs to an ended job is handed out",
        Store, "_is_gated", "return any", "return False and any",
    ),
    Mutant(
        "a cancelled job whose worker is gone runs again",
        Store, "lease_expired", "if job.state == CANCELLING:", "if False:",
    ),
    Mutant(
        "results aren't remembered",
        Store, "settle", "tx.put(row, stored.SerializeToString(), until)", "pass",
    ),
    Mutant(
        "jobs are tried for ever",
        Store, "_retry", "if job.attempt >= self._limits.max_attempts:", "if False:",
    ),
    Mutant(
        "what is reported while cancelling counts",
        Store, "_apply", "if job.state == CANCELLING:", "if False:",
    ),
    Mutant(
        "an accepted plan has no children",
        Store, "_accept", "tx.put(row, StoredExpansion().SerializeToString())", "pass",
    ),
]  # fmt: skip
