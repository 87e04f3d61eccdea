"""Characters that are shown instead of obeyed."""

import pytest

from floecat.characters import is_control, is_unseen, made_visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, caf\u00e9 and 漢字", "plain, caf\u00e9 and 漢字"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\r\nb\tc", "a␍␊b␉c"),
        ("\x7f\x9b31m", "\\u007f\\u009b31m"),
        ("x\u202egnp.exe", "x\\u202egnp.exe"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("👩\u200d💻", "👩\u200d💻"),  # joined, which is part of how it is written
    ],
)
def test_what_a_terminal_would_obey_is_shown(text: str, shown: str) -> None:
    assert made_visible(text) == shown
    assert not any(map(is_control, made_visible(text)))


def test_lines_are_kept_where_they_are_meant() -> None:
    assert made_visible("a\nb\tc\x1b", keeping="\n\t") == "a\nb\tc␛"


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\u3164\ufeff", "\u2800", "\u00ad\u00a0"])
def test_nothing_to_see(text: str) -> None:
    assert is_unseen(text)


@pytest.mark.parametrize("text", ["a", "\u200ba", "😀\ufe0f", "-"])
def test_something_to_see(text: str) -> None:
    assert not is_unseen(text)
