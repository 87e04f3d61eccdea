"""Waiting between attempts: longer each time, never in step with others, up to a deadline."""

import random
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

_FIRST_SECONDS: Final = 0.005
_LONGEST_SECONDS: Final = 1.0


def attempts(patience: timedelta) -> Iterator[int]:
    """Number attempts from 0, pausing before each further one, until patience runs out."""
    deadline = time.monotonic() + patience.total_seconds()
    attempt = 0
    while True:
        yield attempt
        ceiling = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2**attempt)
        pause = random.uniform(0, ceiling)  # noqa: S311 - jitter, not a secret
        if time.monotonic() + pause > deadline:
            return
        time.sleep(pause)
        attempt += 1
