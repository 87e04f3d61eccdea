"""Clocks of services that share a store: what is told when they don't agree."""

from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.support.clock import FakeClock
from tests.support.logs import log_everything
from tests.support.service import running_service
from typing_extensions import override

from floecat.clock import utc_now
from floecat.service.clocks import check_clock
from floecat.storage.kv.delegating import DelegatingKeyValueStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import KeyValueStore, ServerTime
from floecat.storage.kv.sqlite import SqliteKeyValueStore


class OnServer(DelegatingKeyValueStore):
    """A store with a clock of its own."""

    def __init__(self, kv: KeyValueStore, told: ServerTime) -> None:
        super().__init__(kv)
        self._told = told

    @override
    def server_time(self) -> ServerTime:
        return self._told


@pytest.mark.parametrize(
    ("off", "precision", "told"),
    [
        (0, 0, ""),
        (0.9, 0, ""),
        (-0.9, 0, ""),
        (2.5, 0, "2.5 s behind the store's"),
        (-2.5, 0, "2.5 s ahead of the store's"),
        (-1.9, 1, ""),
        (-3.5, 1, "2.5 s ahead of the store's"),
        (1.5, 1, "1.5 s behind the store's"),
    ],
)
def test_a_clock_that_is_wrong_is_told(off: float, precision: float, told: str) -> None:
    log_everything()
    clock = FakeClock()
    moment = clock() + timedelta(seconds=off)
    store = OnServer(MemoryKeyValueStore(), ServerTime(moment, timedelta(seconds=precision)))
    with capture_logs() as logs:
        check_clock(store, clock)
    problems = [entry["problem"] for entry in logs if entry["event"] == "clock"]
    assert [told in problem for problem in problems] == ([True] if told else [])


def test_one_machine_has_one_clock() -> None:
    assert check_clock(MemoryKeyValueStore(), FakeClock()) == timedelta(0)


def test_a_service_compares_its_clock_when_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    late = ServerTime(utc_now() + timedelta(minutes=1), timedelta(0))
    monkeypatch.setattr(SqliteKeyValueStore, "server_time", lambda _: late)
    with running_service(tmp_path, log_level="warning"):
        pass
    out, err = capfd.readouterr()
    assert "behind the store's" in out + err
