"""The `floecat` command, killed or stopped by itself at the moment it writes down a named step.

python -m tests.support.dying_worker SIGKILL EVENT TIMES worker --server localhost:9100
python -m tests.support.dying_worker SIGSTOP EVENT:KIND TIMES worker --server localhost:9100

Steps are the worker's own log events, so that the product needs no points made for tests.
"""

import os
import signal
import sys
import time
from collections.abc import MutableMapping
from typing import Any

import structlog

from floecat.cli.main import main


class Death:
    """Comes when an event, of one kind of job if that is named, is written for the last time."""

    def __init__(self, sent: signal.Signals, event: str, times: int) -> None:
        self._sent = sent
        self._event, _, self._kind = event.partition(":")
        self._left = times

    def __call__(
        self, _logger: object, _name: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        if event["event"] == self._event and self._kind in {"", event.get("kind")}:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), self._sent)
                # Another thread may be the one that takes it: this one mustn't go on meanwhile.
                time.sleep(1)
        return event


def die_at(sent: signal.Signals, event: str, times: int) -> None:
    configure = structlog.configure

    def with_death(**settings: Any) -> None:
        processors = [Death(sent, event, times), *settings.pop("processors")]
        configure(processors=processors, **settings)

    structlog.configure = with_death  # type: ignore[assignment]  # for this process alone


if __name__ == "__main__":
    die_at(signal.Signals[sys.argv[1]], sys.argv[2], int(sys.argv[3]))
    sys.argv[1:4] = []
    main()
