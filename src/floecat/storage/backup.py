"""Backups of an embedded store: a SQLite file and a folder of blobs, in one tar.

    manifest.json    what it is, when it was taken, where blobs were, the database's hash
    floecat.db       the records, as of one moment
    blobs/…          every blob that was there after that moment

Records are copied first. Blobs are immutable and written before the record that names them, so
every blob that a copied record names is there when blobs are copied.
"""

import hashlib
import io
import json
import os
import tarfile
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from floecat.errors import (
    AlreadyExistsError,
    DataLossError,
    IncompatibleStoreError,
    NotFoundError,
)
from floecat.storage.blobs.filesystem.walk import walk
from floecat.storage.folders import sync
from floecat.storage.kv.sqlite.backup import check_database, copy_database

FORMAT: Final = 1

_MANIFEST: Final = "manifest.json"
_DATABASE: Final = "floecat.db"
_BLOBS: Final = "blobs"


@dataclass(frozen=True, slots=True)
class EmbeddedStore:
    """Where an embedded installation keeps its data. Without `blobs` these are kept elsewhere."""

    database: Path
    blobs: Path | None

    @property
    def blob_base(self) -> str:
        """What the URIs of the blobs begin with."""
        return self.blobs.absolute().as_uri() + "/" if self.blobs else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup says of itself."""

    format: int
    made_by: str
    taken_at: str
    blob_base: str
    """Empty if blobs aren't in the backup."""
    database_sha256: str


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made."""

    manifest: Manifest
    blobs: int
    size_bytes: int


def back_up(store: EmbeddedStore, target: Path, *, made_by: str, now: datetime) -> Backup:
    """Write a backup of a store that may be in use. The file appears whole or not at all."""
    if not store.database.exists():
        raise NotFoundError(f"there is no store at {store.database}")
    if target.exists():
        raise AlreadyExistsError(f"{target} exists already: choose another name")
    if not target.absolute().parent.is_dir():
        raise NotFoundError(f"there is no folder {target.absolute().parent}")
    with TemporaryDirectory(prefix=".floecat-backup-", dir=target.absolute().parent) as folder:
        database = Path(folder) / _DATABASE
        copy_database(store.database, database)
        manifest = Manifest(
            format=FORMAT,
            made_by=made_by,
            taken_at=now.isoformat(),
            blob_base=store.blob_base,
            database_sha256=_hash(database),
        )
        unfinished = Path(folder) / "backup.tar"
        blobs = _archive(unfinished, manifest, database, store.blobs)
        unfinished.rename(target)
    sync(target.absolute().parent)
    return Backup(manifest, blobs, target.stat().st_size)


def unpack(source: Path, folder: Path) -> tuple[Manifest, EmbeddedStore]:
    """Take a backup apart into a folder, and make sure that it is whole."""
    try:
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")  # refuses what would leave the folder
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no backup {source}") from error
    except (tarfile.TarError, EOFError) as error:
        raise DataLossError(f"{source} isn't a whole backup: {error}") from error
    manifest = _read_manifest(source, folder)
    database = folder / _DATABASE
    if not database.exists() or _hash(database) != manifest.database_sha256:
        raise DataLossError(f"{source} is damaged: its database isn't the one that was written")
    check_database(database)
    blobs = folder / _BLOBS if manifest.blob_base else None
    if blobs:
        blobs.mkdir(exist_ok=True)
    for path in folder.rglob("*"):
        sync(path)
    return manifest, EmbeddedStore(database, blobs)


def _archive(target: Path, manifest: Manifest, database: Path, blobs: Path | None) -> int:
    count = 0
    with target.open("wb") as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            content = json.dumps(asdict(manifest), indent=2).encode()
            entry = tarfile.TarInfo(_MANIFEST)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
            archive.add(database, _DATABASE)
            if blobs is not None:
                for name, _, _ in walk(blobs, "", None):
                    archive.add(blobs / name, f"{_BLOBS}/{name}")
                    count += 1
        file.flush()
        os.fsync(file.fileno())
    return count


def _read_manifest(source: Path, folder: Path) -> Manifest:
    try:
        fields = json.loads((folder / _MANIFEST).read_text())
        if fields["format"] > FORMAT:
            raise IncompatibleStoreError(
                f"{source} was made by {fields['made_by']}, whose backups are newer than this "
                "Floecat understands: restore it with that version or a newer one"
            )
        return Manifest(**fields)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataLossError(f"{source} isn't a backup made by Floecat") from error


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
