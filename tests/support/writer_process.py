"""Programs that write to local stores and say on standard output what was acknowledged.

python -m tests.support.writer_process count FILE NAME TIMES
python -m tests.support.writer_process endless FOLDER LIFE
"""

import hashlib
import os
import random
import sys
import threading
from itertools import count
from pathlib import Path

from floecat.errors import ConflictError
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.kv.port import ABSENT, Key, Put
from floecat.storage.kv.sqlite import SqliteKeyValueStore

COUNTER = Key("counter", "all")


def say(*words: object) -> None:
    """One line in one write, so that lines of two threads don't mix."""
    os.write(sys.stdout.fileno(), (" ".join(map(str, words)) + "\n").encode())


def count_up(path: Path, name: str, times: int) -> None:
    """Raise a shared counter, together with a record of our own."""
    store = SqliteKeyValueStore(path)
    for n in range(times):
        while True:
            record = store.get(COUNTER)
            raised = b"1" if record is None else b"%d" % (int(record.value) + 1)
            expect = ABSENT if record is None else record.version
            own = Put(Key(name, f"{n:06}"), raised, ABSENT)
            try:
                store.commit([Put(COUNTER, raised, expect), own])
            except ConflictError:
                continue
            break
    store.close()


def commit_for_ever(folder: Path, life: str) -> None:
    store = SqliteKeyValueStore(folder / "store.db")
    for n in count():
        value = os.urandom(random.choice([10, 1000, 30_000]))
        store.commit([Put(Key(half, f"{life}/{n:06}"), value, ABSENT) for half in ("a", "b")])
        say("record", f"{life}/{n:06}")


def blobs_for_ever(folder: Path, life: str) -> None:
    store = FilesystemBlobStore(folder / "blobs")
    for n in count():
        content = os.urandom(random.choice([0, 1000, 300_000]))
        name = f"{life}/{n:06}-{hashlib.sha256(content).hexdigest()}"
        with store.writer(name) as writer:
            writer.write(content)
        say("blob", name)


def main(program: str, *arguments: str) -> None:
    if program == "count":
        count_up(Path(arguments[0]), arguments[1], int(arguments[2]))
    else:
        folder, life = Path(arguments[0]), arguments[1]
        threading.Thread(target=commit_for_ever, args=(folder, life)).start()
        blobs_for_ever(folder, life)


if __name__ == "__main__":
    main(*sys.argv[1:])
