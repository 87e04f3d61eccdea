"""Stubs are made when they are first asked for, one for every service that is declared."""

from pathlib import Path

import pytest

import floecat
from floecat.client.headers import account_header, checked_headers
from floecat.errors import InvalidArgumentError


def test_every_declared_stub_can_be_had_and_stays_the_same() -> None:
    with floecat.connect("localhost:1") as clients:
        for name in floecat.GrpcClients.__annotations__:
            assert getattr(clients, name) is getattr(clients, name)
            stub = floecat.GrpcClients.__annotations__[name]
            assert type(getattr(clients, name)).__name__ == stub.strip('"')


def test_stubs_are_listed_before_anybody_uses_them() -> None:
    with floecat.connect("localhost:1") as clients:
        assert {*floecat.GrpcClients.__annotations__, "close"} <= set(dir(clients))


def test_the_manual_names_every_stub() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "client.md").read_text()
    assert not [name for name in floecat.GrpcClients.__annotations__ if f"`{name}`" not in manual]


def test_what_is_no_service_is_no_attribute() -> None:
    with floecat.connect("localhost:1") as clients:
        assert not hasattr(clients, "nonsense")


def test_headers_are_sent_in_lower_case() -> None:
    assert checked_headers({"X-Engine-Kind": "duckdb"}) == {"x-engine-kind": "duckdb"}


@pytest.mark.parametrize(
    "headers",
    [
        {"": "a"},
        {"a b": "c"},
        {"ä": "a"},
        {"grpc-a": "b"},
        {"a-bin": "b"},
        {"a": "ä"},
        {"a": "b\n"},
    ],
)
def test_headers_that_cannot_be_sent_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(InvalidArgumentError, match="header"):
        floecat.connect("localhost:1", floecat.ClientOptions(headers=headers))


def test_an_account_is_sent_in_ascii() -> None:
    assert account_header("käse")["x-floe-account"].isascii()
