"""Answers whose rows are passed on as they were stored, without being decoded in between."""

from typing import Generic, TypeVar

from google.protobuf.message import Message

from ai.floedb.floecat.catalog.stored_pb2 import SerializedPage
from floecat.catalog.paging import Page

Response = TypeVar("Response", bound=Message)


class Spliced(Generic[Response]):
    """An answer that is bytes already."""

    __slots__ = ("_data", "_response_type")

    def __init__(self, response_type: type[Response], data: bytes) -> None:
        self._response_type = response_type
        self._data = data

    def SerializeToString(self, *, deterministic: bool = False) -> bytes:
        """The bytes, as of any message. Stored rows were serialized deterministically."""
        return self._data

    def decoded(self) -> Response:
        """The answer as its own type."""
        return self._response_type.FromString(self._data)


def spliced(response_type: type[Response], page: Page[bytes]) -> Spliced[Response]:
    """The answer of a listing: framed rows, which are its field 1, and the page in field 2."""
    end = SerializedPage(page=page.message).SerializeToString()
    return Spliced(response_type, b"".join((*page.items, end)))
