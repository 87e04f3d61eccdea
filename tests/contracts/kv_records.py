"""Keys, awkward ones among them, and short ways to write and read them in tests."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from floecat.storage.kv.port import ANY, MAX_OPERATIONS, Key, KeyValueStore, Put, Record

OpenStore: TypeAlias = Callable[[], KeyValueStore]

AWKWARD = [
    "\x00",
    "\x00\x00",
    "a\x00b",
    "\x01",
    "\x7f",
    "\x80",
    "\uffff",
    "\U0010ffff",
    "\U0010ffff\U0010ffff",
    "\ue000",
    "\ud7ff",
    "\U00010000",
    " ",
    "  ",
    "\t\r\n",
    "'",
    '"',
    "%",
    "_",
    "\\",
    "/",
    "//",
    "..",
    "é",
    "e\u0301",
    "ß",
    "I",
    "i",
    "ı",
    "\u200d",
    "\ufeff",
    "😀",
    ":v",
    "#p",
    "$1",
    "?1",
    "%s",
    "NULL",
    "Z",
    "a",
    "aa",
    "a\U0010ffff",
    "a\U0010ffffz",
]


def key(sort: str, partition: str = "p") -> Key:
    return Key(partition, sort)


def value_of(store: KeyValueStore, at: Key) -> bytes | None:
    record = store.get(at)
    return None if record is None else record.value


def version_of(store: KeyValueStore, at: Key) -> int:
    record = store.get(at)
    assert record is not None
    return record.version


def put_all(store: KeyValueStore, sorts: list[str], partition: str = "p") -> None:
    for start in range(0, len(sorts), MAX_OPERATIONS):
        chunk = sorts[start : start + MAX_OPERATIONS]
        store.commit([Put(Key(partition, sort), sort.encode(), ANY) for sort in chunk])


def sorts_of(records: Iterable[Record]) -> list[str]:
    return [record.key.sort for record in records]
