"""How long a run may take: guessed only from what has moved, and never just growing."""

from collections.abc import Iterable

from floecat.cli.pace import Pace


class Stopwatch:
    """Time that goes on when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def guesses(seen: Iterable[tuple[int, int]], every: float = 1.0) -> list[float | None]:
    """What is said after each look at how much is done, and of how much."""
    clock = Stopwatch()
    pace = Pace(clock)
    said = []
    for done, total in seen:
        pace.see(done, total - done)
        said.append(pace.seconds_left())
        clock.now += every
    return said


def test_nothing_is_said_while_nothing_moves() -> None:
    """As when Spark starts: a few jobs were planned in no time, and then it takes a while."""
    assert guesses([(0, 1), (3, 20), *[(3, 20)] * 60]) == [None] * 62


def test_a_steady_pace_is_told() -> None:
    said = guesses([(done, 20) for done in range(20)])
    assert said[:3] == [None] * 3, "two seconds are too little to go by"
    assert said[4:] == [20.0 - done for done in range(4, 20)]


def test_the_time_before_the_first_move_isnt_in_it() -> None:
    starting = [(0, 20)] * 15
    assert guesses([*starting, *((done, 20) for done in range(1, 11))])[-1] == 10


def test_a_guess_runs_out_when_nothing_moves_any_more() -> None:
    said = guesses([*((done, 10) for done in range(6)), *[(5, 10)] * 60])
    after = said[5:]
    told = [guess for guess in after if guess is not None]
    assert told == [5, 4, 3, 2, 1]
    assert after[len(told) :] == [None] * (len(after) - len(told))


def test_nothing_is_said_while_more_is_found_than_done() -> None:
    assert guesses([(done, 10 + 2 * done) for done in range(30)]) == [None] * 30


def test_what_moves_seldom_has_a_pace_too() -> None:
    assert guesses([(done, 10) for done in range(6)], every=60)[-1] == 300


def test_how_much_is_done_in_a_second() -> None:
    clock = Stopwatch()
    pace = Pace(clock)
    for done in range(0, 12, 2):
        pace.see(done, 100)
        clock.now += 1
    assert pace.per_second() == 2
    clock.now += 60
    assert pace.per_second() is None, "that was another time"
