"""Scans as intervals, against the plain meaning of prefix and after."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from floecat.storage.kv.ranges import next_sort, sort_range

texts = st.text(st.sampled_from("\0a\x7f\x80\ud7ff\ue000\uffff\U00010000\U0010ffff"), max_size=4)


@settings(max_examples=1000)
@given(texts, st.one_of(st.none(), texts), st.booleans(), texts)
@example("a", None, False, "a\U0010ffff")
def test_an_interval_holds_what_the_scan_means(
    prefix: str, after: str | None, reverse: bool, sort: str
) -> None:
    wanted = sort.startswith(prefix)
    if after is not None:
        wanted = wanted and (sort < after if reverse else sort > after)
    covered = sort_range(prefix, after, reverse=reverse)
    low, high = covered.encoded()
    assert covered.holds(sort) == wanted
    assert (low <= sort.encode() < high) == wanted
    assert not (wanted and covered.empty)


@given(texts, texts)
def test_nothing_lies_between_a_sort_and_the_next(sort: str, other: str) -> None:
    assert not sort < other < next_sort(sort)


@given(texts, texts)
def test_text_and_its_bytes_are_ordered_alike(one: str, other: str) -> None:
    assert (one < other) == (one.encode() < other.encode())
