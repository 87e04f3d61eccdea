"""BOOLEAN, INT, STRING, BINARY and UUID: a value of the kind from whatever holds one."""

import base64
import binascii
import re
from typing import Final
from uuid import UUID

from floecat.types.errors import InvalidValueError, shown
from floecat.types.values.unwrap import unwrap

MAX_INT_BITS: Final = 3_300
"""No source has longer integers, and Python refuses to print much longer ones."""

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,1000}")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}")


def read_boolean(value: object) -> bool:
    """A BOOLEAN of a bool or `true` / `false` in any case."""
    value = unwrap(value)
    match value:
        case bool():
            return value
        case str() if value.lower() in {"true", "false"}:
            return value.lower() == "true"
        case _:
            raise InvalidValueError(
                f"{shown(value)} isn't a boolean; give True, False or their text"
            )


def read_int(value: object) -> int:
    """An INT of an integer of any size (unsigned and wider ones occur) or its digits."""
    value = unwrap(value)
    match value:
        case bool():
            pass
        case int() if value.bit_length() <= MAX_INT_BITS:
            return value
        case int():
            raise InvalidValueError(f"an integer of {value.bit_length()} bits is too large for INT")
        case str() if _INTEGER.fullmatch(value):
            return int(value)
    raise InvalidValueError(f"{shown(value)} isn't an integer; give an int or its digits")


def read_string(value: object) -> str:
    """A STRING of a str, or of bytes that are UTF-8."""
    value = unwrap(value)
    match value:
        case str():
            return _encodable(value)
        case bytes() | bytearray() | memoryview():
            return _utf8(bytes(value))
        case _:
            raise InvalidValueError(f"{shown(value)} isn't text; give a str")


def read_binary(value: object) -> bytes:
    """A BINARY of bytes, or of their base64."""
    value = unwrap(value)
    match value:
        case bytes() | bytearray() | memoryview():
            return bytes(value)
        case UUID():
            return value.bytes
        case str():
            return _from_base64(value)
        case _:
            raise InvalidValueError(f"{shown(value)} isn't binary; give bytes or their base64")


def read_uuid(value: object) -> UUID:
    """A UUID of a UUID, its 16 bytes or its text, with or without hyphens."""
    value = unwrap(value)
    match value:
        case UUID():
            return value
        case bytes() | bytearray() | memoryview() if len(bytes(value)) == 16:
            return UUID(bytes=bytes(value))
        case str() if _UUID.fullmatch(value.lower()):
            return UUID(value)
        case _:
            raise InvalidValueError(
                f"{shown(value)} isn't a UUID; give a UUID, 16 bytes or their text"
            )


def format_boolean(value: bool) -> str:
    """`true` or `false`."""
    return "true" if value else "false"


def format_binary(value: bytes) -> str:
    """Base64 with padding, in one line."""
    return binascii.b2a_base64(value, newline=False).decode("ascii")


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidValueError(
            f"{shown(text)} has lone surrogates, which UTF-8 can't hold"
        ) from None
    return text


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InvalidValueError(
            f"{shown(data)} isn't UTF-8; if the column holds bytes, make it a BINARY"
        ) from None


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidValueError(
            f"{shown(text)} isn't base64; give bytes, or their base64 with padding"
        ) from None
