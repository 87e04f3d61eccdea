"""FileAccess: how a process elsewhere opens a source's files, with the same rights."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.security.guard import (
    AddressNotAllowedError,
    OutboundGuard,
    OutboundRules,
    scheme_of,
)
from floecat.security.secret import Secret

_S3 = frozenset({"s3", "s3a", "s3n"})
_LOCAL = frozenset({"", "file"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAccess:
    """Where files are and how to sign in to them.

    It travels to Spark tasks inside their closure, so pickling it reveals its credentials on
    purpose: it must go nowhere else, and the credentials should be short-lived.
    """

    rules: OutboundRules = field(default_factory=OutboundRules)
    endpoint: str | None = None
    region: str | None = None
    access_key_id: Secret[str] | None = None
    secret_access_key: Secret[str] | None = None
    session_token: Secret[str] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """Further options of the file system, not secret."""
    expires_at: datetime | None = None

    def open(self, uri: str) -> pa.NativeFile:
        """Open a file for reading anywhere in it."""
        filesystem, path = self.filesystem(uri)
        return filesystem.open_input_file(path)

    def is_local(self, uri: str) -> bool:
        """Whether a file is on this machine, where reading it takes no time to speak of."""
        return scheme_of(uri) in _LOCAL

    def filesystem(self, uri: str) -> tuple[pafs.FileSystem, str]:
        """The file system of a URI, and the file's path in it. The guard has its say first."""
        try:
            return self._checked(uri)
        except AddressNotAllowedError as error:
            raise PermanentUpstreamError(
                error.message, UpstreamProblem.ADDRESS_NOT_ALLOWED
            ) from error

    def _checked(self, uri: str) -> tuple[pafs.FileSystem, str]:
        guard = OutboundGuard(self.rules)
        scheme = scheme_of(uri)
        if scheme in _LOCAL:
            return pafs.LocalFileSystem(), str(guard.check_path(uri))
        if scheme in _S3:
            return self._s3(guard), _object_path(uri)
        raise PermanentUpstreamError(
            f"files at {scheme}: can't be read; file: and s3: can", UpstreamProblem.BAD_SPEC
        )

    def _s3(self, guard: OutboundGuard) -> pafs.FileSystem:
        if self.endpoint:
            guard.check_url(self.endpoint)
        anonymous = self.access_key_id is None and not self.rules.aws_default_chain
        return pafs.S3FileSystem(
            access_key=_revealed(self.access_key_id),
            secret_key=_revealed(self.secret_access_key),
            session_token=_revealed(self.session_token),
            anonymous=anonymous,
            region=self.region,
            endpoint_override=self.endpoint,
            proxy_options=self.rules.proxy,
            **self.options,
        )

    def __getstate__(self) -> dict[str, Any]:
        state = {part.name: getattr(self, part.name) for part in fields(self)}
        return {
            name: value.reveal() if isinstance(value, Secret) else value
            for name, value in state.items()
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            wrapped = Secret(value) if name in _SECRET and value is not None else value
            object.__setattr__(self, name, wrapped)


_SECRET = frozenset({"access_key_id", "secret_access_key", "session_token"})


def _revealed(secret: Secret[str] | None) -> str | None:
    return None if secret is None else secret.reveal()


def _object_path(uri: str) -> str:
    """Bucket and key. A key may hold any character, so it isn't taken apart further."""
    return uri.partition("://")[2]
