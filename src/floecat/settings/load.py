"""Reads settings from their sources and refuses what it doesn't know, all problems at once."""

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from floecat.errors import InvalidSettingsError
from floecat.settings.model import BlobBackend, KeyValueBackend, Settings
from floecat.settings.options import Declared, build, declared_options
from floecat.settings.values import amount, amount_text, parse

FILE_NAME: Final = "floecat.toml"
FILE_VARIABLE: Final = "FLOECAT_CONFIG"
PREFIX: Final = "floecat."

_SERVICE_LINK: Final = re.compile(
    r"FLOECAT(_\w+)?_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)$"
)
"""What Kubernetes puts into every container's environment for a service called floecat."""

_ADDRESS: Final = re.compile(r"[^\s/]+:(\d{1,5})")
_LARGEST_PORT: Final = 65535


Origin: TypeAlias = str
"""Where a value came from: `default`, a file's name, or `environment`."""

DEFAULT: Final[Origin] = "default"
ENVIRONMENT: Final[Origin] = "environment"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and for each key that was set where that happened."""

    settings: Settings
    origins: Mapping[str, Origin]

    def value(self, declared: Declared) -> object:
        """The value of a key."""
        found: object = self.settings
        for name in declared.path:
            found = getattr(found, name)
        return found

    def origin(self, key: str) -> Origin:
        """Where the value of a key came from."""
        return self.origins.get(key, DEFAULT)


def load_settings(environment: Mapping[str, str], path: Path | None = None) -> LoadedSettings:
    """Defaults, then the file, then the environment.

    The file is `path`, else what `FLOECAT_CONFIG` names, else `floecat.toml` in the current folder,
    if there is one. Raises `InvalidSettingsError` that lists every problem.
    """
    options = tuple(declared_options(Settings))
    reading = _Reading()
    by_key = {declared.key: declared for declared in options}
    for given in _from_file(environment, path):
        reading.take(given, by_key)
    by_variable = {declared.environment_name: declared for declared in options}
    for given in _from_environment(environment):
        reading.take(given, by_variable)
    settings = build(Settings, reading.values)
    problems = [*reading.problems, *_contradictions(settings)]
    if problems:
        raise InvalidSettingsError("these settings can't be used:\n  " + "\n  ".join(problems))
    return LoadedSettings(settings, reading.origins)


@dataclass(frozen=True, slots=True)
class _Given:
    """One value as a source wrote it."""

    name: str
    raw: object
    origin: Origin


@dataclass(slots=True)
class _Reading:
    """What was understood so far, and what wasn't."""

    values: dict[str, object] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def take(self, given: _Given, known: Mapping[str, Declared]) -> None:
        """Add a value; a later source wins over an earlier one."""
        declared = known.get(given.name)
        if declared is None:
            self._refuse(given, f"is unknown{_nearest(given.name, known)}")
        elif self.origins.get(declared.key) == given.origin:
            self._refuse(given, "is given twice")
        else:
            self.origins[declared.key] = given.origin
            try:
                self.values[declared.key] = _checked(declared, given.raw)
            except ValueError as error:
                self._refuse(given, str(error))

    def _refuse(self, given: _Given, why: str) -> None:
        self.problems.append(f"{given.origin}: {given.name} {why}")


def _from_file(environment: Mapping[str, str], path: Path | None) -> Iterator[_Given]:
    named = path or (Path(environment[FILE_VARIABLE]) if environment.get(FILE_VARIABLE) else None)
    file = named or Path(FILE_NAME)
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        if named is None:
            return
        raise InvalidSettingsError(f"there is no settings file {file}") from error
    except (OSError, ValueError) as error:
        raise InvalidSettingsError(f"{file} can't be read: {error}{_hint(file, error)}") from error
    for name, raw in content.items():
        if isinstance(raw, dict):
            raise InvalidSettingsError(f"{file}: {name} is a table{_quoting_hint(file)}")
        yield _Given(name.removeprefix(PREFIX), raw, str(file))


def _hint(file: Path, error: Exception) -> str:
    """Keys that are prefixes of others clash unless they are quoted; TOML says that cryptically."""
    return _quoting_hint(file) if "overwrite" in str(error) else ""


def _quoting_hint(file: Path) -> str:
    return f'; in {file.name} write keys flat and quoted, like "reconciler.job-store" = "durable"'


def _from_environment(environment: Mapping[str, str]) -> Iterator[_Given]:
    for name in sorted(environment):
        if name.startswith("FLOECAT_") and name != FILE_VARIABLE and not _SERVICE_LINK.match(name):
            yield _Given(name, environment[name], ENVIRONMENT)


def _nearest(name: str, known: Mapping[str, Declared]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    close = close or [key for key in known if key.lower() == name.lower()]
    return f"; did you mean {close[0]}?" if close else "; 'floecat config show' lists every key"


def _checked(declared: Declared, raw: object) -> object:
    value = parse(declared.key, declared.type, raw)
    number, option = amount(declared.key, value), declared.option
    if number is None:
        return value
    if option.minimum is not None and number < option.minimum:
        raise ValueError(f"must be at least {amount_text(declared.key, value, option.minimum)}")
    if option.maximum is not None and number > option.maximum:
        raise ValueError(f"must be at most {amount_text(declared.key, value, option.maximum)}")
    return value


def _contradictions(settings: Settings) -> Iterator[str]:
    """What is wrong between settings that are each fine on their own."""
    if settings.kv.backend is KeyValueBackend.POSTGRES and not settings.kv.postgres_url:
        yield "kv = postgres needs kv.postgres.url"
    if settings.blobs.backend is BlobBackend.S3 and not settings.blobs.s3_bucket:
        yield "blobs = s3 needs blobs.s3.bucket"
    for key, address in (
        ("server.address", settings.server.address),
        ("metrics.address", settings.server.metrics_address),
        ("client.server", settings.client.server),
    ):
        match = _ADDRESS.fullmatch(address) if address else None
        if address and (match is None or int(match[1]) > _LARGEST_PORT):
            yield f"{key}: {address!r} isn't host:port, like localhost:9100"
    job_store = settings.reconciler.job_store
    if job_store.base_backoff > job_store.max_backoff:
        yield "reconciler.job-store.base-backoff-ms is larger than max-backoff-ms"
    try:
        ZoneInfo(settings.values.session_timezone)
    except (ZoneInfoNotFoundError, ValueError):
        yield f"session.timezone: there is no IANA zone {settings.values.session_timezone!r}"
