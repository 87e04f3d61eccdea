"""Making a backup the store: checked first, put in place last, and nothing of the old one lost."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from floecat.catalog.consistency import ConsistencyCheck
from floecat.catalog.records import CatalogStores
from floecat.catalog.relocation import relocate_blobs
from floecat.errors import AlreadyExistsError, DataLossError, FailedPreconditionError
from floecat.storage.backup import EmbeddedStore, Manifest, unpack
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.folders import make_folder, sync
from floecat.storage.kv.schema import raise_incarnation
from floecat.storage.kv.sqlite import SqliteKeyValueStore
from floecat.storage.kv.sqlite.backup import require_unused


@dataclass(frozen=True, slots=True)
class Restored:
    """A store that came from a backup."""

    manifest: Manifest
    incarnation: int
    kept: tuple[Path, ...]
    """What was there before, under its new name."""


def restore(source: Path, target: EmbeddedStore, *, force: bool, now: datetime) -> Restored:
    """Put a backup where a store belongs. Raises before anything there is touched."""
    _require_room(target, force=force)
    with TemporaryDirectory(prefix=".floecat-restore-", dir=target.database.parent) as folder:
        manifest, copy = unpack(source, Path(folder))
        if bool(manifest.blob_base) != bool(target.blobs):
            raise FailedPreconditionError(
                "this backup and these settings keep blobs in different kinds of stores: "
                "restore with the settings it was made with"
            )
        incarnation = _prepare(copy, manifest, target)
        kept = _put_in_place(copy, target, now)
    return Restored(manifest, incarnation, kept)


def _require_room(target: EmbeddedStore, *, force: bool) -> None:
    taken = target.database.exists() or bool(target.blobs and _has_content(target.blobs))
    if taken and not force:
        raise AlreadyExistsError(
            f"there is a store at {target.database} already: --force puts it aside"
        )
    if target.database.exists():
        require_unused(target.database)


def _prepare(copy: EmbeddedStore, manifest: Manifest, target: EmbeddedStore) -> int:
    """Check the copy where it is, then let its records name the place where it will be."""
    kv = SqliteKeyValueStore(copy.database)
    try:
        if copy.blobs:
            relocate_blobs(kv, manifest.blob_base, copy.blob_base)
            _check(CatalogStores(kv, FilesystemBlobStore(copy.blobs)))
            relocate_blobs(kv, copy.blob_base, target.blob_base)
        return raise_incarnation(kv)
    finally:
        kv.close()


def _check(stores: CatalogStores) -> None:
    found = next(ConsistencyCheck(stores).run(), None)
    if found is not None:
        raise DataLossError(
            f"the backup doesn't fit together: {found.key.partition} {found.key.sort} "
            f"{found.problem}"
        )


def _put_in_place(copy: EmbeddedStore, target: EmbeddedStore, now: datetime) -> tuple[Path, ...]:
    """The old database leaves first and the new one comes last: what is between is no store."""
    suffix = f".before-restore-{now:%Y%m%dT%H%M%S}"
    kept = tuple(
        old.rename(old.with_name(old.name + suffix))
        for old in (target.database, target.blobs)
        if old and old.exists()
    )
    if target.blobs and copy.blobs:
        make_folder(target.blobs.parent)
        copy.blobs.rename(target.blobs)
        sync(target.blobs.parent)
    copy.database.rename(target.database)
    sync(target.database.parent)
    return kept


def _has_content(folder: Path) -> bool:
    return folder.exists() and any(not entry.name.startswith(".") for entry in folder.iterdir())
