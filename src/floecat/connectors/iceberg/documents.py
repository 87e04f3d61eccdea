"""Iceberg's JSON documents: read whole, and asked for their parts with the types they must have."""

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from floecat.connectors.iceberg.storage import MAX_DOCUMENT_BYTES, SourceFiles

Document = Mapping[str, Any]
T = TypeVar("T")

_LONGS: Final = 1 << 63
_GZIP: Final = b"\x1f\x8b"


def read_document(files: SourceFiles, uri: str) -> Document:
    """A metadata file, compressed or not. Whether it is can't be told by its name alone."""
    data = files.read(uri)
    if data.startswith(_GZIP):
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        data = inflater.decompress(data, MAX_DOCUMENT_BYTES + 1)
        if len(data) > MAX_DOCUMENT_BYTES or not inflater.eof:
            raise ValueError(f"{uri} is cut off, or larger than {MAX_DOCUMENT_BYTES} bytes")
    return parse_document(data)


def parse_document(data: bytes | str) -> Document:
    """A JSON object."""
    found = json.loads(data)
    if not isinstance(found, dict):
        raise TypeError("a metadata file holds no JSON object")
    return found


def get(document: Document, key: str, kind: type[T]) -> T:
    """A part that must be there."""
    found = find(document, key, kind)
    if found is None:
        raise ValueError(f"{key!r} is missing")
    return found


def find(document: Document, key: str, kind: type[T]) -> T | None:
    """A part that may be missing, or null."""
    found = document.get(key)
    if found is None:
        return None
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise TypeError(f"{key!r} isn't {_ARTICLES.get(kind, kind.__name__)}")
    if isinstance(found, int) and not -_LONGS <= found < _LONGS:
        raise ValueError(f"{key!r} is a number of more than 64 bits")
    return found


def objects(document: Document, key: str) -> list[Document]:
    """A list of objects; empty when it is missing."""
    found: list[Any] = find(document, key, list) or []
    if not all(isinstance(part, dict) for part in found):
        raise TypeError(f"{key!r} doesn't hold objects only")
    return found


def texts(document: Document, key: str) -> dict[str, str]:
    """A map of text to text. Some writers put numbers and booleans there."""
    found: dict[str, Any] = find(document, key, dict) or {}
    return {name: _text(value) for name, value in found.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_ARTICLES: Final = {int: "a number", str: "text", list: "a list", dict: "an object"}
