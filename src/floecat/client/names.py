"""Names as people write them: `sales.eu.orders`, with odd parts in double quotes.

    parse_name('sales."odd.name".orders')   # ("sales", "odd.name", "orders")
    format_name(["sales", "odd.name"])      # 'sales."odd.name"'

Pure: says nothing about whether a name exists. Inside quotes a double quote is written twice.
"""

import re
from collections.abc import Sequence
from typing import Final

from ai.floedb.floecat.common.common_pb2 import NameRef
from floecat.errors import InvalidArgumentError

_BARE: Final = re.compile(r"[\w\-]+")
"""What is written without quotes; more is understood without them."""

_PART: Final = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')

_ID: Final = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def is_id(text: str) -> bool:
    """Whether a text is an id rather than a name. A name that looks like one is quoted."""
    return _ID.fullmatch(text) is not None


def parse_name(text: str) -> tuple[str, ...]:
    """The parts of a name, at least one. Raises `InvalidArgumentError` that says what to write."""
    parts: list[str] = []
    at = 0
    while True:
        found = _PART.match(text, at)
        if found is None:
            raise _unreadable(text, at)
        quoted, bare = found.groups()
        part = bare.strip() if quoted is None else quoted.replace('""', '"')
        if not part:
            raise _unreadable(text, at)
        parts.append(part)
        at = found.end()
        if at == len(text):
            return tuple(parts)
        if text[at] != ".":
            raise _unreadable(text, at)
        at += 1


def format_name(parts: Sequence[str]) -> str:
    """The name that `parse_name` reads back as these parts."""
    if len(parts) == 1 and is_id(parts[0]):
        return _quoted(parts[0])
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in parts)


def parse_relation(text: str) -> NameRef:
    """The name of a table or view: a catalog, at least one namespace, and its own name."""
    parts = parse_name(text)
    if len(parts) < 3:
        raise InvalidArgumentError(
            f"{text} isn't the name of a table or view: write catalog.namespace.name"
        )
    return NameRef(catalog=parts[0], path=parts[1:-1], name=parts[-1])


def parse_namespace(text: str) -> NameRef:
    """The name of a namespace: a catalog, and the path below it."""
    parts = parse_name(text)
    if len(parts) < 2:
        raise InvalidArgumentError(f"{text} isn't the name of a namespace: write catalog.namespace")
    return NameRef(catalog=parts[0], path=parts[1:])


def parts_of(name: NameRef) -> tuple[str, ...]:
    """The parts of a name as the directory gives it."""
    return (name.catalog, *name.path, *([name.name] if name.name else []))


def _quoted(part: str) -> str:
    return '"' + part.replace('"', '""') + '"'


def _unreadable(text: str, at: int) -> InvalidArgumentError:
    where = f"at {text[at:]!r}" if at < len(text) else "at its end"
    return InvalidArgumentError(
        f"the name {text!r} can't be read {where}: write catalog.namespace.name, "
        'parts with dots in double quotes, like sales."odd.name".orders'
    )
