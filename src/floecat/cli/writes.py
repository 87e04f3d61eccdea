"""What every change on the command line shares: preconditions, keys, properties, questions."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import typer
from google.protobuf.message import Message

from ai.floedb.floecat.common.common_pb2 import IdempotencyKey, MutationMeta, Precondition
from floecat.cli.inputs import pairs
from floecat.cli.output import note, print_done, print_json, print_message
from floecat.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)

_ATTEMPTS: Final = 5


R = TypeVar("R")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Guard:
    """What a change expects, and the key that makes it happen once."""

    etag: str | None = None
    version: int | None = None
    key: str = ""

    @property
    def expects(self) -> bool:
        """Whether anything is expected."""
        return self.etag is not None or self.version is not None

    @property
    def precondition(self) -> Precondition:
        return Precondition(expected_etag=self.etag, expected_version=self.version)

    @property
    def idempotency(self) -> IdempotencyKey | None:
        return IdempotencyKey(key=self.key) if self.key else None


@dataclass(frozen=True, slots=True)
class Edit:
    """New values for fields of a specification, and for single properties."""

    guard: Guard
    fields: Mapping[str, Any] = field(default_factory=dict)
    assigned: Mapping[str, str] = field(default_factory=dict)
    removed: Sequence[str] = ()

    def apply(
        self,
        read: Callable[[], tuple[Mapping[str, str], MutationMeta]],
        send: Callable[[Mapping[str, Any], Precondition], R],
    ) -> R:
        """Send the fields; properties are read first, since they can only be written together."""
        if not self.assigned and not self.removed:
            return send(self.fields, self.guard.precondition)
        for attempts_left in reversed(range(_ATTEMPTS)):
            properties, meta = read()
            fields = {**self.fields, "properties": self._edited(properties)}
            expected = Precondition(expected_version=meta.version)
            try:
                return send(fields, self.guard.precondition if self.guard.expects else expected)
            except FailedPreconditionError as error:
                # Somebody else was quicker; what the user expects isn't ours to try again.
                changed = error.reason == "PRECONDITION_FAILED"
                if self.guard.expects or not changed or attempts_left == 0:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _edited(self, properties: Mapping[str, str]) -> dict[str, str]:
        kept = {key: value for key, value in properties.items() if key not in self.removed}
        return {**kept, **self.assigned}


def edit(
    guard: Guard,
    assigned: Sequence[str] | None,
    removed: Sequence[str] | None,
    **fields: Any,
) -> Edit:
    """An edit from what was given on the command line; None means "leave it"."""
    given = {name: value for name, value in fields.items() if value is not None}
    properties = pairs(assigned, "--set")
    if not given and not properties and not removed:
        raise InvalidArgumentError("nothing to change: --help lists what can be")
    if guard.key and (properties or removed) and not guard.expects:
        raise InvalidArgumentError(
            "--idempotency-key with --set or --unset needs --version or --etag too: "
            "otherwise the second run wouldn't be the same request"
        )
    return Edit(guard, given, properties, removed or ())


def create(
    what: str,
    send: Callable[[], Any],
    read: Callable[[], Any],
    *,
    if_not_exists: bool,
    as_json: bool,
) -> None:
    """Create something, or be content with what is there already."""
    verb = "created"
    try:
        answer = send()
    except AlreadyExistsError:
        if not if_not_exists:
            raise
        verb, answer = "there is already", read()
    _print(f"{verb} {what}", answer, as_json=as_json)


def print_updated(what: str, answer: Any, *, as_json: bool) -> None:
    """Tell what a change led to."""
    _print(f"updated {what} (version {answer.meta.version})", answer, as_json=as_json)


def delete(
    what: str,
    find: Callable[[], Found],
    send: Callable[[Found], Any],
    *,
    confirm: bool = False,
    if_exists: bool,
    as_json: bool,
) -> None:
    """Delete something, or be content that it isn't there."""
    try:
        found = find()
        if confirm:
            _confirm(what)
        answer = send(found)
    except NotFoundError:
        if not if_exists:
            raise
        if as_json:
            print_json({})
        else:
            print_done(f"there is no {what}: nothing to delete")
        return
    _print(f"deleted {what}", answer, as_json=as_json)


def _confirm(what: str) -> None:
    """Ask before everything below goes too; only a person at a terminal can be asked."""
    if not sys.stdin.isatty():
        return
    if not typer.confirm(f"Delete {what} and everything in it?", err=True):
        note("nothing was deleted")
        raise typer.Exit(1)


def _print(line: str, answer: Message, *, as_json: bool) -> None:
    if as_json:
        print_message(answer)
    else:
        print_done(line)
