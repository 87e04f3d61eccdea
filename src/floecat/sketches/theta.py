"""Theta sketches: how many distinct values, in 32 KB, mergeable without loss.

The same bytes as Apache DataSketches writes (compact, ordered, serial version 3), so that Iceberg's
Puffin files and Spark can read them. Built from whole arrays of hashes; unions, estimates and
bounds are DataSketches' own.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Self

import datasketches
import numpy as np

from floecat.errors import DataLossError
from floecat.sketches.murmur import SEED, Words

LG_K: Final = 12
_NOMINAL: Final = 1 << LG_K
_MAX_THETA: Final = (1 << 63) - 1
_FEW: Final = 4 * _NOMINAL
"""So many hashes are sorted sooner than looked through."""

_SERIAL_VERSION: Final = 3
_FAMILY: Final = 3
_READ_ONLY, _EMPTY, _COMPACT, _ORDERED = 2, 4, 8, 16
_SEED_HASH: Final = 0x93CC
"""Of seed 9001: sketches of other seeds must not be mixed with ours."""


@dataclass(frozen=True, slots=True)
class ThetaSketch:
    """The smallest distinct hashes, and the bound that all of them are below."""

    hashes: Words = field(default_factory=lambda: np.empty(0, np.uint64), repr=False)
    """Distinct and ascending."""
    theta: int = _MAX_THETA

    @classmethod
    def of(cls, hashes: Words) -> Self:
        """The sketch of values, by their hashes."""
        return cls().added(hashes)

    def added(self, hashes: Words) -> Self:
        """With more values."""
        distinct = _distinct(np.concatenate([self.hashes, _smallest(hashes, self.theta)]))
        if len(distinct) <= _NOMINAL:
            return type(self)(distinct, self.theta)
        return type(self)(distinct[:_NOMINAL].copy(), int(distinct[_NOMINAL]))

    @classmethod
    def union(cls, sketches: Iterable["ThetaSketch"]) -> Self:
        """Of everything that any of them has seen."""
        union = ThetaUnion()
        for sketch in sketches:
            union.add(sketch.to_bytes())
        return cls.from_bytes(union.to_bytes())

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read a sketch, whoever wrote it."""
        other = _read(content)
        hashes = np.sort(np.fromiter(other, np.uint64))
        return cls(hashes, int(other.theta64))

    def to_bytes(self) -> bytes:
        """As DataSketches writes it."""
        flags = _READ_ONLY | _COMPACT | _ORDERED | (_EMPTY if self.is_empty else 0)
        estimating = self.theta < _MAX_THETA
        longs = 3 if estimating else 1 if len(self.hashes) <= 1 else 2
        head = struct.pack("<BBBBBBH", longs, _SERIAL_VERSION, _FAMILY, 0, 0, flags, _SEED_HASH)
        if longs > 1:
            head += struct.pack("<II", len(self.hashes), 0)
        if estimating:
            head += struct.pack("<Q", self.theta)
        return head + self.hashes.astype("<u8").tobytes()

    @property
    def is_empty(self) -> bool:
        """Whether it has seen nothing."""
        return len(self.hashes) == 0 and self.theta == _MAX_THETA

    @property
    def is_exact(self) -> bool:
        """Whether every distinct value is in it."""
        return self.theta == _MAX_THETA

    @property
    def estimate(self) -> float:
        """How many distinct values it has seen, about."""
        return float(self._other().get_estimate())

    def bounds(self, deviations: int = 2) -> tuple[float, float]:
        """Between which it is, with two deviations at 95 %."""
        other = self._other()
        return float(other.get_lower_bound(deviations)), float(other.get_upper_bound(deviations))

    def _other(self) -> "datasketches.compact_theta_sketch":
        return datasketches.compact_theta_sketch.deserialize(self.to_bytes(), SEED)


def _smallest(hashes: Words, theta: int) -> Words:
    """The distinct hashes below theta, or as many of the smallest as a sketch can need.

    Hashes are spread evenly, so a bound that leaves twice as many as are needed is known before
    looking; only where values repeat themselves does it have to be raised.
    """
    bound = theta
    if len(hashes) > _FEW:
        bound = int(theta * min(1.0, 2 * _NOMINAL / len(hashes)))
    while True:
        below = hashes[hashes < np.uint64(bound)]
        # A zero stands for an empty place in DataSketches' tables, so it never is a hash there.
        distinct = _distinct(below[below > 0])
        if len(distinct) > _NOMINAL or bound >= theta:
            return distinct
        bound = min(theta, bound * 16)


def _distinct(hashes: Words) -> Words:
    """Each once, ascending. There are few, and sorting those beats numpy's way of hashing them."""
    ordered = np.sort(hashes)
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


class ThetaUnion:
    """Takes sketches as bytes, one after another, and forgets them."""

    def __init__(self) -> None:
        self._union = datasketches.theta_union(LG_K)

    def add(self, content: bytes) -> None:
        """Take a sketch in."""
        self._union.update(_read(content))

    def to_bytes(self) -> bytes:
        """The sketch of everything that any of them has seen."""
        return bytes(self._union.get_result().serialize())


def _read(content: bytes) -> "datasketches.compact_theta_sketch":
    try:
        return datasketches.compact_theta_sketch.deserialize(content, SEED)
    except (RuntimeError, ValueError, IndexError) as error:
        raise DataLossError(f"this isn't a theta sketch of seed {SEED}: {error}") from error
