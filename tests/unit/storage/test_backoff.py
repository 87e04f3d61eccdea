"""Pauses between attempts."""

import time
from datetime import timedelta

import pytest

from floecat.storage.kv.backoff import attempts


def test_without_patience_there_is_one_attempt() -> None:
    assert list(attempts(timedelta(0))) == [0]


def test_pauses_grow_and_end_with_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    now, pauses = [0.0], []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    assert list(attempts(timedelta(seconds=5))) == list(range(len(pauses) + 1))
    assert pauses == sorted(pauses)
    assert pauses[0] < 0.01
    assert pauses[-1] == 1
    assert 4 < sum(pauses) <= 5
