"""Names: read, written, and the two the inverse of each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floecat.client.names import (
    format_name,
    is_id,
    parse_name,
    parse_namespace,
    parse_relation,
    parts_of,
)
from floecat.errors import InvalidArgumentError

ODD = st.text(alphabet='ab."\\ é-_\n🐟', min_size=1, max_size=6)
PARTS = st.lists(ODD | st.text(min_size=1) | st.uuids().map(str), min_size=1, max_size=5)


@given(PARTS)
def test_a_formatted_name_reads_back_as_its_parts(parts: list[str]) -> None:
    assert list(parse_name(format_name(parts))) == parts


@given(PARTS)
def test_a_formatted_name_is_never_taken_for_an_id(parts: list[str]) -> None:
    assert not is_id(format_name(parts))


@given(st.text(alphabet='ab." ', max_size=8))
def test_whatever_is_typed_is_read_or_refused(text: str) -> None:
    try:
        parts = parse_name(text)
    except InvalidArgumentError:
        return
    assert parse_name(format_name(parts)) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sales", ("sales",)),
        ("sales.eu.orders", ("sales", "eu", "orders")),
        ('sales."odd.name".orders', ("sales", "odd.name", "orders")),
        ('"say ""hi""".x', ('say "hi"', "x")),
        ("größe.a b.c$", ("größe", "a b", "c$")),
    ],
)
def test_names_are_read(text: str, parts: tuple[str, ...]) -> None:
    assert parse_name(text) == parts


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", '"', 'a"b"', '"a"b', '""', "a. .b"])
def test_what_cannot_be_read_says_how_to_write_it(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="double quotes"):
        parse_name(text)


def test_plain_parts_need_no_quotes_and_others_get_them() -> None:
    assert format_name(["sales", "e-u", "orders_2"]) == "sales.e-u.orders_2"
    assert format_name(["sales", "odd.name"]) == 'sales."odd.name"'


def test_relations_and_namespaces_need_enough_parts() -> None:
    assert parts_of(parse_relation("sales.eu.west.orders")) == ("sales", "eu", "west", "orders")
    assert parts_of(parse_namespace("sales.eu.west")) == ("sales", "eu", "west")
    with pytest.raises(InvalidArgumentError, match=r"catalog\.namespace\.name"):
        parse_relation("sales.orders")
    with pytest.raises(InvalidArgumentError, match=r"catalog\.namespace"):
        parse_namespace("sales")
