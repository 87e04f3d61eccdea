"""What sketches that are DataSketches' own through and through have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

from floecat.errors import DataLossError


class WrappedSketch(ABC):
    """One of DataSketches' sketches, under our names and errors."""

    library_type: ClassVar[Any]
    what: ClassVar[str]
    """As people call it."""

    def __init__(self, sketch: Any = None) -> None:
        self._sketch = self._new() if sketch is None else sketch

    @classmethod
    @abstractmethod
    def _new(cls) -> Any:
        """An empty one of the library's."""

    @classmethod
    def union(cls, sketches: Iterable[Self]) -> Self:
        """Of everything that any of them has seen."""
        made = cls()
        for sketch in sketches:
            made.merge(sketch)
        return made

    def merge(self, other: Self) -> None:
        """Take in everything that another has seen."""
        self._sketch.merge(other._sketch)

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read a sketch, whoever wrote it."""
        if not cls._is_whole(content):
            raise DataLossError(f"this isn't a sketch of {cls.what}: it isn't whole")
        try:
            return cls(cls.library_type.deserialize(content))
        except (RuntimeError, ValueError, IndexError) as error:
            raise DataLossError(f"this isn't a sketch of {cls.what}: {error}") from error

    @classmethod
    def _is_whole(cls, content: bytes) -> bool:
        """Whether the library can be given the bytes: it doesn't look at all of them."""
        return bool(content)

    def to_bytes(self) -> bytes:
        """As DataSketches writes it."""
        return bytes(self._sketch.serialize())
