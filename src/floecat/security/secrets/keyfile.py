"""The key of the local secrets store: 32 random bytes in a file that only we may read."""

import os
import secrets
from pathlib import Path
from typing import Final

from floecat.errors import FailedPreconditionError
from floecat.security.secret import Secret

KEY_BYTES: Final = 32
_MODE: Final = 0o600


class KeyFileError(FailedPreconditionError):
    """The key file can't be used; the message says what to do about it."""

    default_reason = "SECRETS_KEY"


def read_key(path: Path, *, may_make: bool = True) -> Secret[bytes]:
    """The key, made if there is none. Two processes that start at once end up with one key."""
    if not path.exists():
        if not may_make:
            raise KeyFileError(
                f"the secrets key {path} is missing, and there are secrets that only it opens: "
                "restore it from a backup, or run 'floecat admin forget-secrets' and give the "
                "credentials of every connector again"
            )
        _make(path)
    if not path.is_file():
        raise KeyFileError(f"the secrets key {path} isn't a file: see secrets.local.key-file")
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise KeyFileError(
            f"others may read the secrets key {path} (mode {mode:o}): run chmod 600 {path}"
        )
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise KeyFileError(
            f"the secrets key {path} has {len(key)} bytes instead of {KEY_BYTES}: restore it from "
            "a backup"
        )
    return Secret(key)


def _make(path: Path) -> None:
    """Written aside and linked into place, so that nobody ever sees half a key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        os.write(descriptor, secrets.token_bytes(KEY_BYTES))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(aside, path)
    except FileExistsError:
        pass  # another process was quicker; its key counts
    finally:
        aside.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
