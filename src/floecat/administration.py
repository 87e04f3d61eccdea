"""What administrators do to the stores themselves, beside a service or without one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Final

from floecat.bootstrap import open_stores
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.consistency import ConsistencyCheck, Finding
from floecat.catalog.garbage import GarbageCollector, GarbageReport
from floecat.catalog.records import CatalogStores
from floecat.catalog.restore import Restored, restore
from floecat.catalog.sweeps import Sweeper
from floecat.clock import utc_now
from floecat.errors import FailedPreconditionError, NotFoundError
from floecat.outside import open_outside
from floecat.reconciler.consistency import QueueCheck
from floecat.reconciler.leftovers import ReconcilerSweep
from floecat.reconciler.store.opening import JobStoreContext, open_job_store
from floecat.security.secrets.local import forget_secrets
from floecat.settings.model import KeyValueBackend, Settings
from floecat.storage.backup import Backup, EmbeddedStore, back_up
from floecat.storage.blobs.opening import FilesystemBlobConfig
from floecat.storage.configured import blob_config, key_value_config
from floecat.storage.folders import make_folder
from floecat.storage.open import MemoryKeyValueConfig, SqliteKeyValueConfig

_OTHER_BACKUPS: Final = {
    KeyValueBackend.MEMORY: "kv = memory: there is nothing to keep",
    KeyValueBackend.POSTGRES: (
        "kv = postgres: use pg_dump, which copies the table floecat_record as of one moment "
        "(pg_dump --table=floecat_record), and then copy the blobs"
    ),
    KeyValueBackend.DYNAMODB: "kv = dynamodb: use the table's point-in-time recovery",
}


@contextmanager
def opened_stores(settings: Settings) -> Iterator[CatalogStores]:
    """The stores for an administrator's command, beside a service that may be running."""
    kv = key_value_config(settings.kv, settings.data_dir)
    if isinstance(kv, MemoryKeyValueConfig):
        raise FailedPreconditionError(
            "kv = memory: such a store lives inside its service, and nothing else can look at it"
        )
    if isinstance(kv, SqliteKeyValueConfig) and not kv.path.exists():
        raise NotFoundError(f"there is no store at {kv.path}: is data.dir the service's?")
    with ExitStack() as opened:
        yield open_stores(settings, opened)


def find_inconsistencies(settings: Settings) -> Iterator[Finding]:
    """Everything in the stores that doesn't fit together, as it is found."""
    with opened_stores(settings) as stores:
        yield from ConsistencyCheck(stores).run()
        yield from QueueCheck(stores).run()


def finish_deletions(settings: Settings) -> None:
    """Remove now what is deleted for everyone, instead of in the background."""
    with opened_stores(settings) as stores:
        context = JobStoreContext(kv=stores.kv, blobs=stores.blobs)
        jobs = open_job_store(settings.reconciler.job_store.backend, context)
        Sweeper(stores, [ReconcilerSweep(stores.kv, jobs)]).sweep_all()


def collect_garbage(settings: Settings, grace: timedelta, *, dry_run: bool) -> GarbageReport:
    """One pass over blobs that no record names."""
    with opened_stores(settings) as stores:
        return GarbageCollector(stores, grace).collect(dry_run=dry_run)


def collect_secrets(settings: Settings, *, dry_run: bool) -> int:
    """Delete secrets that no connector names any more; how many there were."""
    with opened_stores(settings) as stores, ExitStack() as opened:
        outside = open_outside(settings, stores.kv, opened)
        connectors = ConnectorRepository(stores, outside.secrets, outside.opener)
        return connectors.collect_secrets(dry_run=dry_run)


def forget_all_secrets(settings: Settings) -> int:
    """Delete every secret of a local store whose key is lost; how many there were."""
    with opened_stores(settings) as stores:
        return forget_secrets(stores.kv)


def make_backup(settings: Settings, target: Path) -> Backup:
    """Copy the store into one file, while it may be in use."""
    store = _embedded_store(settings)
    made_by = f"Floecat {version('floecat')}"
    return back_up(store, target, made_by=made_by, now=utc_now())


def restore_backup(settings: Settings, source: Path, *, force: bool) -> Restored:
    """Make a backup the store. The store that was there is kept under another name."""
    target = _embedded_store(settings)
    make_folder(target.database.parent)
    return restore(source, target, force=force, now=utc_now())


def _embedded_store(settings: Settings) -> EmbeddedStore:
    """Where the records and blobs are, if they are files; or what to use instead."""
    kv = key_value_config(settings.kv, settings.data_dir)
    if not isinstance(kv, SqliteKeyValueConfig):
        raise FailedPreconditionError(_OTHER_BACKUPS[settings.kv.backend])
    blobs = blob_config(settings.blobs, settings.data_dir)
    folder = blobs.root if isinstance(blobs, FilesystemBlobConfig) else None
    return EmbeddedStore(kv.path, folder)
