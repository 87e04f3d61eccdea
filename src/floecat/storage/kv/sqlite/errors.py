"""SQLite's failures in Floecat's words."""

import apsw

from floecat.errors import (
    DataLossError,
    FloecatError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
)


class Translation:
    """Turns what SQLite raises inside into one of our errors; leaves bugs as they are.

    A class of its own, used by all calls, because a generator costs as much as a read does.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, apsw.Error):
            ours = translate(error, self._path)
            if ours is not None:
                raise ours from error


def translate(error: apsw.Error, path: str) -> FloecatError | None:
    """Our error for an error of SQLite's; None for what only a bug can cause."""
    ours: FloecatError | None = None
    match error:
        case apsw.FullError():
            ours = ResourceExhaustedError(f"no space left for the store {path}")
        case apsw.IOError() if _lacks_shared_memory(error):
            # the file beside the log that readers share; it is extended before anything is written
            ours = ResourceExhaustedError(f"no space left for the store {path}")
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            ours = UnavailableError(f"the store {path} stayed locked by another writer")
        case apsw.CorruptError() | apsw.NotADBError():
            ours = DataLossError(f"{path} isn't a sound SQLite file: {error}")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            ours = PermissionDeniedError(f"the store {path} can't be written: {error}")
        case apsw.CantOpenError() | apsw.IOError():
            ours = UnavailableError(f"the store {path} can't be read or written: {error}")
        case apsw.ConnectionClosedError() | apsw.CursorClosedError():
            ours = UnavailableError(f"the store {path} was closed")
    return ours


def _lacks_shared_memory(error: apsw.Error) -> bool:
    # apsw sets this attribute on every error, but its type hints don't know
    return getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHMSIZE
