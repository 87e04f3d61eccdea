"""Times as people read and write them."""

from datetime import UTC, datetime, timedelta

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from floecat.cli.times import ago, full, parse_time
from floecat.errors import InvalidArgumentError

NOW = datetime(2026, 6, 15, 12, 0, 0, tzinfo=UTC)


def stamp(moment: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(moment)
    return made


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (9, "just now"),
        (10, "10 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (3 * 60 + 59, "3 min ago"),
        (3600, "1 hour ago"),
        (2 * 3600, "2 hours ago"),
        (86_400, "1 day ago"),
        (31 * 86_400, "1 month ago"),
        (800 * 86_400, "2 years ago"),
        (-7200, "in 2 hours"),
    ],
)
def test_how_long_ago(seconds: int, words: str) -> None:
    assert ago(stamp(NOW - timedelta(seconds=seconds)), NOW) == words


def test_no_time_is_nothing() -> None:
    assert ago(Timestamp(), NOW) == full(Timestamp(), NOW) == ""


def test_in_full() -> None:
    assert full(stamp(NOW - timedelta(hours=1)), NOW) == "2026-06-15 11:00:00 UTC (1 hour ago)"


@pytest.mark.parametrize(
    "text",
    ["2026-06-15T12:00:00Z", "2026-06-15T14:00:00+02:00", "2026-06-15T12:00", "2026-06-15 12"],
)
def test_times_are_read_as_utc_unless_they_say_otherwise(text: str) -> None:
    assert parse_time(text) == stamp(NOW)


def test_what_is_no_time_says_how_to_write_one() -> None:
    with pytest.raises(InvalidArgumentError, match="2026-01-31T12:00:00Z"):
        parse_time("yesterday")
