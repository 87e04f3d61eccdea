"""The `floecat` command, killed by itself at the moment it writes down a named step.

python -m tests.support.dying_worker EVENT TIMES worker --server localhost:9100

Steps are the worker's own log events, so that the product needs no points made for tests.
"""

import os
import signal
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from floecat.cli.main import main


class Death:
    """Comes when an event is written for the last of some times."""

    def __init__(self, event: str, times: int) -> None:
        self._event = event
        self._left = times

    def __call__(
        self, _logger: object, _name: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        if event["event"] == self._event:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return event


def die_at(event: str, times: int) -> None:
    configure = structlog.configure

    def with_death(**settings: Any) -> None:
        processors = [Death(event, times), *settings.pop("processors")]
        configure(processors=processors, **settings)

    structlog.configure = with_death  # type: ignore[assignment]  # for this process alone


if __name__ == "__main__":
    die_at(sys.argv[1], int(sys.argv[2]))
    sys.argv[1:3] = []
    main()
