"""Text, numbers and booleans of a source into typed values, and typed values into text."""

import re
import types
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, get_args

_BYTE_UNITS: Final = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_TIME_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_LARGEST: Final = 2**53
"""Far beyond any sensible setting, and within what a duration can hold."""
_QUANTITY: Final = re.compile(r"(-?\d+)\s*([a-zA-Z]*)")


Paths: Final = tuple[Path, ...]
Texts: Final = tuple[str, ...]


def parse(key: str, kind: Any, raw: object) -> object:
    """`raw` as a value of type `kind`. Raises ValueError that says what is wanted instead.

    Empty text unsets what can be unset.
    """
    if raw == "" and _without_none(kind) is not kind:
        return None
    kind = _without_none(kind)
    if kind == Paths:
        return tuple(Path(part) for part in _parts(raw, ",", "paths", "commas"))
    if kind == Texts:
        # Not by commas: values of Spark's own settings have them.
        return _parts(raw, ";", "texts", "semicolons")
    if raw == "" and kind is Path:
        raise ValueError("must be a path")
    if kind is bool:
        return _boolean(raw)
    if kind is int:
        return _quantity(raw, _BYTE_UNITS if key.endswith("-bytes") else {"": 1})
    if kind is timedelta:
        return timedelta(milliseconds=_quantity(raw, _time_units(key)))
    if not isinstance(raw, str):
        raise ValueError("must be a string")
    if issubclass(kind, StrEnum):
        return _choice(kind, raw)
    return Path(raw) if kind is Path else raw


def amount(key: str, value: object) -> int | None:
    """A value as the number that a minimum of its key is stated in; None if it isn't one."""
    if isinstance(value, timedelta):
        return int(value / timedelta(milliseconds=_time_units(key).get("", 1)))
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def amount_text(key: str, value: object, number: int) -> str:
    """A number that `amount` would give, with the unit that a person would have to write."""
    unit = "ms" if isinstance(value, timedelta) and "" not in _time_units(key) else ""
    return f"{number}{unit}"


def render(key: str, value: object) -> str:
    """The text that `parse` would read as this value; empty for an unset one."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case timedelta():
            return _render_time(key, value)
        case tuple():
            between = ";" if all(isinstance(part, str) for part in value) else ","
            return between.join(str(part) for part in value)
        case _:
            return str(value)


def describe(key: str, kind: Any) -> str:
    """What a person may write for a key of this type."""
    kind = _without_none(kind)
    if kind == Paths:
        return "paths, separated by commas"
    if kind == Texts:
        return "texts, separated by semicolons"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return ", ".join(f"`{choice}`" for choice in kind)
    if kind is timedelta:
        unit = _time_units(key).get("")
        return {None: "duration (`500ms`, `1s`, `5m`)", 1: "milliseconds", 1000: "seconds"}[unit]
    if kind is int and key.endswith("-bytes"):
        return "bytes (`1048576`, `4GiB`)"
    return {bool: "`true`, `false`", int: "integer", Path: "path"}.get(kind, "string")


def _without_none(kind: Any) -> Any:
    if isinstance(kind, types.UnionType):
        return next(choice for choice in get_args(kind) if choice is not type(None))
    return kind


def _parts(raw: object, between: str, what: str, separators: str) -> tuple[str, ...]:
    """Parts from a list, or from text with something between them."""
    parts = raw.split(between) if isinstance(raw, str) else raw
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"must be {what}: a list, or text with {separators} between them")
    return tuple(part.strip() for part in parts if part.strip())


def _boolean(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in ("true", "false"):
        return raw.lower() == "true"
    raise ValueError("must be true or false")


def _choice(kind: type[StrEnum], raw: str) -> StrEnum:
    for choice in kind:
        if choice.value.lower() == raw.lower():
            return choice
    raise ValueError(f"must be one of: {', '.join(kind)}")


def _quantity(raw: object, units: dict[str, int]) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        if abs(raw) > _LARGEST:
            raise ValueError("is too large")
        raw = str(raw)
    match = _QUANTITY.fullmatch(raw.strip()) if isinstance(raw, str) else None
    unit = match[2].lower() if match else None
    if match is None or unit not in units:
        known = ", ".join(unit for unit in units if unit)
        suffix = f" and a unit ({known})" if known else ""
        optional = ", or without one" if known and "" in units else ""
        raise ValueError(f"must be a whole number{suffix}{optional}")
    if len(match[1]) > len(str(_LARGEST)) or abs(int(match[1]) * units[unit]) > _LARGEST:
        raise ValueError("is too large")
    return int(match[1]) * units[unit]


def _time_units(key: str) -> dict[str, int]:
    """A key that ends in its unit takes bare numbers in it; others need the unit written out."""
    if key.endswith("-ms"):
        return {"": 1, **_TIME_UNITS}
    if key.endswith("-seconds"):
        return {"": 1000, **_TIME_UNITS}
    return _TIME_UNITS


def _render_time(key: str, value: timedelta) -> str:
    milliseconds = value // timedelta(milliseconds=1)
    bare = _time_units(key).get("")
    if bare is not None and milliseconds % bare == 0:
        return str(milliseconds // bare)
    return f"{milliseconds // 1000}s" if milliseconds % 1000 == 0 else f"{milliseconds}ms"
