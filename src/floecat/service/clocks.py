"""Do the clocks of services that share a store agree? Leases are counted by them.

Nothing is ever written twice because of a clock, but a lease that one service gave may be over for
another too early, or too late.
"""

from datetime import timedelta
from typing import Final

import structlog

from floecat.clock import Clock
from floecat.storage.kv.port import KeyValueStore

_LOG: Final = structlog.get_logger(log="floecat.service")

TOLERATED: Final = timedelta(seconds=1)
"""How far a clock may be from the store's, so that any two are within two seconds."""


def check_clock(kv: KeyValueStore, clock: Clock) -> timedelta:
    """Compare a clock with the store's, and warn if it is wrong; how far ahead it surely is."""
    before = clock()
    told = kv.server_time()
    after = clock()
    if told is None:
        return timedelta(0)
    behind = max(told.moment - after, timedelta(0))
    ahead = max(before - (told.moment + told.precision), timedelta(0))
    if max(ahead, behind) > TOLERATED:
        _LOG.warning(
            "clock",
            problem=f"this machine's clock is {max(ahead, behind).total_seconds():.1f} s "
            f"{'ahead of' if ahead else 'behind'} the store's: services that share a store must "
            "agree within 2 s, or leases end too early or too late; synchronise the clocks (NTP)",
        )
    return ahead - behind
