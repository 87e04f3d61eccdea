"""The hash of a set of files."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from floecat.artifacts.coverage import CoverageHash
from floecat.artifacts.identifiers import decode_ids, encode_ids

TEXT = st.text(alphabet="ab/\x00é", max_size=4)
IDENTITIES = st.lists(st.tuples(TEXT, st.integers(0, 20), TEXT), max_size=6)


def hashed(identities: list[tuple[str, int, str]]) -> str:
    coverage = CoverageHash()
    for path, size, mark in identities:
        coverage.add(FileIdentity(file_path=path, size_bytes=size, format_mark=mark))
    assert len(coverage) == len(identities)
    return coverage.hexdigest()


@given(IDENTITIES, st.randoms(use_true_random=False))
def test_order_doesnt_count(identities: list[tuple[str, int, str]], chance: random.Random) -> None:
    shuffled = identities[:]
    chance.shuffle(shuffled)
    assert hashed(shuffled) == hashed(identities)


@given(IDENTITIES, IDENTITIES)
def test_another_set_has_another_hash(
    one: list[tuple[str, int, str]], other: list[tuple[str, int, str]]
) -> None:
    assert (hashed(one) == hashed(other)) == (Counter(one) == Counter(other))


def test_the_hash_is_the_same_in_every_version() -> None:
    assert hashed([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert hashed([("s3://b/1.parquet", 10, "7"), ("s3://b/2.parquet", 20, "")]) == PINNED


PINNED = "36b0dc3a912a9c6f6a2f055f34138ce5c10f424c5157495511df922668aecdf0"


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_sets_of_ids_travel(ids: list[int]) -> None:
    assert decode_ids(encode_ids(ids)) == frozenset(ids)
