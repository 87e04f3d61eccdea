"""Credentials that a vendor's command-line tool keeps on the server."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ai.floedb.floecat.connector.connector_pb2 import CliCredentials
from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.errors import (
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamProblem,
)
from floecat.security.secret import Secret

_TIMEOUT: Final = timedelta(seconds=20)
_PROFILE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}")
_KEPT: Final = ("PATH", "HOME", "USER", "LANG", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")
"""Of the service's environment, which may hold secrets of its own, tools see only these."""


@dataclass(frozen=True, slots=True)
class _Tool:
    command: tuple[str, ...]
    profile_flag: str
    read: Callable[[str], ResolvedAuth]


class CommandLineTools:
    """Runs the tools that are known, if the operator allows it."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    def resolve(self, given: CliCredentials) -> ResolvedAuth:
        """What the tool has for a profile."""
        if not self._enabled:
            raise _bad("this server doesn't run command-line tools (setting credentials.cli)")
        tool = _TOOLS.get(given.provider)
        if tool is None:
            raise _bad(f"there is no tool {given.provider!r}; there are {', '.join(_TOOLS)}")
        if given.profile and not _PROFILE.fullmatch(given.profile):
            raise _bad(f"{given.profile!r} can't be a profile")
        command = [*tool.command, *((tool.profile_flag, given.profile) if given.profile else ())]
        try:
            return tool.read(_output(command))
        except (ValueError, KeyError, TypeError):
            raise _bad(f"what {command[0]!r} printed isn't what it prints when signed in") from None


def _output(command: Sequence[str]) -> str:
    program = shutil.which(command[0])
    if program is None:
        raise _bad(f"the tool {command[0]!r} isn't installed on the server")
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; the profile is checked
            [program, *command[1:]],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT.total_seconds(),
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise TransientUpstreamError(
            f"{command[0]!r} didn't answer in {_TIMEOUT.seconds} s", UpstreamProblem.TIMEOUT
        ) from None
    if done.returncode != 0:
        raise PermanentUpstreamError(
            f"{command[0]!r} has no credentials (it ended with {done.returncode}): sign in with it "
            "on the server, as the user the service runs as",
            UpstreamProblem.UNAUTHENTICATED,
        )
    return done.stdout


def _aws(text: str) -> ResolvedAuth:
    found = json.loads(text)
    keys = {
        "access_key_id": found["AccessKeyId"],
        "secret_access_key": found["SecretAccessKey"],
        "session_token": found.get("SessionToken"),
    }
    return ResolvedAuth(
        scheme="aws-sigv4",
        secrets={name: Secret(value) for name, value in keys.items() if value},
        expires_at=_moment(found.get("Expiration")),
    )


def _token_at(*fields: str) -> Callable[[str], ResolvedAuth]:
    def read(text: str) -> ResolvedAuth:
        found: Mapping[str, Any] = json.loads(text)
        token = next(found[field] for field in fields if found.get(field))
        return ResolvedAuth(scheme="bearer", secrets={"token": Secret(token)})

    return read


def _bare_token(text: str) -> ResolvedAuth:
    token = text.strip()
    if not token or any(character.isspace() for character in token):
        raise ValueError("not a token")
    return ResolvedAuth(scheme="bearer", secrets={"token": Secret(token)})


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def _bad(message: str) -> PermanentUpstreamError:
    return PermanentUpstreamError(message, UpstreamProblem.BAD_SPEC)


_TOOLS: Final[Mapping[str, _Tool]] = {
    "aws": _Tool(
        ("aws", "configure", "export-credentials", "--format", "process"), "--profile", _aws
    ),
    "databricks": _Tool(("databricks", "auth", "token"), "--profile", _token_at("access_token")),
    "azure": _Tool(
        ("az", "account", "get-access-token", "--output", "json"),
        "--subscription",
        _token_at("accessToken"),
    ),
    "gcloud": _Tool(("gcloud", "auth", "print-access-token"), "--account", _bare_token),
}
