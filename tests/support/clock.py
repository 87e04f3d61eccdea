"""A clock that tests move by hand."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    def __init__(self) -> None:
        # Far ahead: servers that expire records by their own clock must find none to expire.
        self.now = datetime(2100, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **parts: float) -> None:
        self.now += timedelta(**parts)
