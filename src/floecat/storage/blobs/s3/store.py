"""The S3 backend: created with a condition, settled by comparing when the answer is lost."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, BinaryIO, Final

import boto3
import obstore
from obstore import exceptions as s3
from obstore.auth.boto3 import Boto3CredentialProvider
from obstore.store import S3Store

from floecat.clock import Clock, utc_now
from floecat.errors import InvalidArgumentError, NotFoundError, PermissionDeniedError
from floecat.storage.blobs.cache import BlobCache
from floecat.storage.blobs.names import check_listing, checked_name
from floecat.storage.blobs.pending import PendingBlob, taken
from floecat.storage.blobs.port import BlobInfo, BlobRef, BlobWriter
from floecat.storage.blobs.s3.errors import translated
from floecat.storage.blobs.s3.upload import TEMPORARY, Upload
from floecat.storage.blobs.stream import changed, checked_range, clipped, open_stream

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import S3Config

_READ_AHEAD_BYTES: Final = 8 * 1024 * 1024
_LIST_PAGE: Final = 1000
_ABANDONED_AFTER: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class S3Options:
    """Where the blobs are. Credentials come from the environment, as with every AWS tool."""

    bucket: str
    prefix: str = ""
    region: str | None = None
    endpoint: str | None = None
    patience: timedelta = timedelta(seconds=60)


class S3BlobStore:
    """Blobs as objects below a prefix of a bucket."""

    def __init__(self, options: S3Options, cache: BlobCache, *, clock: Clock = utc_now) -> None:
        folder = options.prefix.strip("/")
        self._base = f"s3://{options.bucket}/{folder}/" if folder else f"s3://{options.bucket}/"
        self._cache = cache
        self._clock = clock
        self._store = _s3_store(options, folder)
        with translated(self._base):
            self._sweep_temporaries()

    @contextmanager
    def writer(self, name: str) -> Iterator[BlobWriter]:
        upload = Upload(self._store, checked_name(name))
        try:
            pending = PendingBlob(upload.write)
            yield pending
            ref = pending.measured(self._base + name)
            with translated(ref.uri):
                self._create(upload, name, ref)
            pending.committed(ref)
        finally:
            with suppress(s3.BaseError, FileNotFoundError):  # the next start sweeps it
                upload.discard()

    def open(self, ref: BlobRef) -> BinaryIO:
        name = self._name(ref)
        with translated(ref.uri):
            if obstore.head(self._store, name)["size"] != ref.size:
                raise changed(ref)

        def fetch(offset: int, length: int) -> bytes:
            with translated(ref.uri):
                return self._fetch(name, offset, length)

        return open_stream(ref, fetch, buffer_bytes=_READ_AHEAD_BYTES)

    def read(self, ref: BlobRef, *, offset: int = 0, length: int | None = None) -> bytes:
        start, count = clipped(ref, offset, length)
        name = self._name(ref)
        with translated(ref.uri):
            if count == ref.size:
                data = bytes(obstore.get(self._store, name).bytes())
            elif count == 0:  # S3 has no empty ranges
                obstore.head(self._store, name)
                data = b""
            else:
                data = self._fetch(name, start, count)
        return checked_range(ref, count, data)

    def list(self, prefix: str = "", *, after: str | None = None, limit: int) -> Sequence[BlobInfo]:
        check_listing(prefix, after, limit)
        found: list[BlobInfo] = []
        with translated(self._base + prefix):
            for meta in self._metas(prefix, after, min(limit, _LIST_PAGE)):
                if len(found) == limit:
                    break
                found.append(self._info(meta))
        return found

    def delete(self, name: str) -> bool:
        try:
            with translated(self._base + checked_name(name)):
                obstore.head(self._store, name)
                obstore.delete(self._store, name)
        except NotFoundError:
            return False
        return True

    def materialize(self, ref: BlobRef) -> BinaryIO:
        return self._cache.materialize(ref, self.open)

    def close(self) -> None:
        """Nothing to give back."""

    def _create(self, upload: Upload, name: str, ref: BlobRef) -> None:
        try:
            upload.create()
        except s3.BaseError as error:
            # Our own bytes are there if the answer to an earlier attempt was lost on the way.
            held = self._held(name)
            if held == (ref.sha256, ref.size):
                return
            if held is not None:
                raise taken(name) from error
            raise

    def _held(self, name: str) -> tuple[str, int] | None:
        digest, size = hashlib.sha256(), 0
        try:
            for chunk in obstore.get(self._store, name).stream():
                digest.update(chunk)
                size += len(chunk)
        except FileNotFoundError:
            return None
        return digest.hexdigest(), size

    def _fetch(self, name: str, offset: int, length: int) -> bytes:
        return bytes(obstore.get_range(self._store, name, start=offset, length=length))

    def _metas(self, prefix: str, after: str | None, page: int) -> Iterator["ObjectMeta"]:
        """Objects by name. S3 takes whole folders, and starts behind a name, not at it."""
        folder = prefix.rpartition("/")[0]
        if prefix and not prefix.endswith("/") and (after is None or after < prefix):
            with suppress(FileNotFoundError):
                yield obstore.head(self._store, prefix)
        offset = prefix if after is None else max(prefix, after)
        for chunk in obstore.list(self._store, folder, offset=offset or None, chunk_size=page):
            for meta in chunk:
                if meta["path"].startswith(TEMPORARY):
                    continue
                if not meta["path"].startswith(prefix):
                    if meta["path"] > prefix:
                        return
                    continue
                yield meta

    def _sweep_temporaries(self) -> None:
        """Remove what writers left that were killed long ago."""
        limit = self._clock() - _ABANDONED_AFTER
        for chunk in obstore.list(self._store, TEMPORARY.rstrip("/")):
            for meta in chunk:
                if meta["last_modified"] < limit:
                    obstore.delete(self._store, meta["path"])

    def _name(self, ref: BlobRef) -> str:
        if not ref.uri.startswith(self._base):
            raise InvalidArgumentError(f"{ref.uri} isn't in this store ({self._base})")
        return checked_name(ref.uri.removeprefix(self._base))

    def _info(self, meta: "ObjectMeta") -> BlobInfo:
        name = meta["path"]
        return BlobInfo(name, self._base + name, meta["size"], meta["last_modified"])


def _s3_store(options: S3Options, prefix: str) -> S3Store:
    session = boto3.session.Session(region_name=options.region)
    try:
        credentials = Boto3CredentialProvider(session)
    except ValueError as error:
        raise PermissionDeniedError("no AWS credentials were found") from error
    config: S3Config = {"copy_if_not_exists": "multipart"}
    if session.region_name:
        config["region"] = session.region_name
    if options.endpoint:
        config["endpoint"] = options.endpoint
    return S3Store(
        options.bucket,
        prefix=prefix or None,
        config=config,
        client_options={"allow_http": (options.endpoint or "").startswith("http://")},
        retry_config={"retry_timeout": options.patience},
        credential_provider=credentials,
    )
