"""What commands read: files, standard input, JSON, and `key=value` words."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

from floecat.client.names import parse_name
from floecat.errors import InvalidArgumentError, NotFoundError

M = TypeVar("M", bound=Message)

_PIECE_BYTES: Final = 256 * 1024


def read_text(source: str) -> str:
    """The content of a file, or of standard input for `-`."""
    try:
        return read_bytes(source).decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{source} isn't text in UTF-8") from error


def read_bytes(source: str) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {source}") from error
    except OSError as error:
        raise InvalidArgumentError(f"{source} can't be read: {error.strerror}") from error


def read_pieces(source: str) -> Iterator[bytes]:
    """The bytes of a file or of standard input, a piece at a time."""
    try:
        with sys.stdin.buffer if source == "-" else Path(source).open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                yield piece
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {source}") from error
    except OSError as error:
        raise InvalidArgumentError(f"{source} can't be read: {error.strerror}") from error


def text_or_file(given: str) -> str:
    """The text itself, or the content of the file that `@FILE` names."""
    return read_text(given[1:]) if given.startswith("@") else given


def read_json(source: str) -> Any:
    """JSON from a file or standard input."""
    return _loaded(read_text(source), source)


def read_schema(source: str) -> str:
    """Schema JSON from a file or standard input, as it was written."""
    text = read_text(source)
    _loaded(text, source)
    return text.strip()


def parsed(value: Any, kind: type[M], what: str) -> M:
    """A message from its JSON."""
    try:
        return ParseDict(value, kind())
    except ParseError as error:
        why = str(error).partition("\n")[0]
        raise InvalidArgumentError(f"{what} can't be used: {why}") from error


def single_name(text: str) -> str:
    """A name of one part, as catalogs and accounts have it."""
    parts = parse_name(text)
    if len(parts) != 1:
        raise InvalidArgumentError(
            f"{text} has {len(parts)} parts: give one, in double quotes if it has dots"
        )
    return parts[0]


def pairs(words: Sequence[str] | None, option: str) -> dict[str, str]:
    """`key=value` words; a value may hold further `=`."""
    found: dict[str, str] = {}
    for word in words or ():
        key, equals, value = word.partition("=")
        if not key or not equals:
            raise InvalidArgumentError(f"{option} {word} isn't KEY=VALUE")
        found[key] = value
    return found


def _loaded(text: str, source: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        where = "standard input" if source == "-" else source
        raise InvalidArgumentError(f"{where} isn't JSON: {error}") from error
