"""How long tests wait for what others do: threads, processes, services.

Only tests that fail wait so long, and a machine that does many things at once is slow, not broken.
"""

import time
from collections.abc import Callable
from typing import Final

PATIENCE_SECONDS: Final = 240


def eventually(
    condition: Callable[[], object], what: str, seconds: float = PATIENCE_SECONDS
) -> None:
    """Wait until something is so; `what` says what it is, for whoever reads that it never was."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited {seconds:g} s, and in vain: {what}"
        time.sleep(0.02)
