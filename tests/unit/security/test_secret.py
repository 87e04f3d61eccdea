"""A Secret doesn't show what it holds."""

import copy
import json
import logging
import pickle

import pytest

from floecat.security.secret import Secret

CANARY = "canary-5e1f"


@pytest.mark.parametrize("shown", [repr, str, format, lambda s: f"{s!r:>20}", lambda s: f"{[s]}"])
def test_it_isnt_shown(shown: object) -> None:
    assert CANARY not in shown(Secret(CANARY))  # type: ignore[operator]


def test_it_isnt_pickled_copied_or_turned_into_json() -> None:
    for way in (pickle.dumps, copy.copy, json.dumps):
        with pytest.raises(TypeError):
            way(Secret(CANARY))


def test_it_isnt_logged(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("here").warning("signing in with %s", Secret(CANARY))
    assert "Secret" in caplog.text
    assert CANARY not in caplog.text


def test_it_has_no_attributes_to_stumble_over() -> None:
    assert not hasattr(Secret(CANARY), "__dict__")
    assert Secret(CANARY).reveal() == CANARY


def test_equal_secrets_are_equal() -> None:
    assert Secret("a") == Secret("a")
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != "a"
