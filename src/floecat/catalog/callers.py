"""Who is asking, and what an id in a request may name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from google.protobuf.message import Message

from ai.floedb.floecat.common import common_pb2
from floecat.catalog.kinds import KIND_NAMES, Kind
from floecat.errors import InvalidArgumentError, NotFoundError

Spec = TypeVar("Spec", bound=Message)

MAX_ID_LENGTH: Final = 255


class Asker(Protocol):
    """Whoever waits for the answer to a call."""

    def require_waiting(self) -> None:
        """Raise CancelledError or DeadlineExceededError if nobody waits any more."""
        ...

    def answer_replayed(self) -> None:
        """Learn that the answer is an earlier one, and nothing was changed."""
        ...


class Patient:
    """Waits for ever: for calls that nobody made over the network."""

    def require_waiting(self) -> None:
        """Always is."""

    def answer_replayed(self) -> None:
        """Doesn't mind."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The account and subject a call is made for."""

    account_id: str
    subject: str = ""
    administrator: bool = False
    """May see and change other accounts through AccountService; nothing else."""
    asker: Asker = field(default=Patient(), compare=False, repr=False)


def not_found(kind: Kind, resource_id: str) -> NotFoundError:
    """The one answer for what doesn't exist and for what isn't the caller's."""
    name = KIND_NAMES[kind]
    return NotFoundError(
        f"there is no {name} with id {resource_id!r}",
        reason=f"{name.upper()}_NOT_FOUND",
        metadata={"kind": name, "id": resource_id},
    )


def named_id(
    caller: Caller,
    resource_id: common_pb2.ResourceId,
    kind: Kind,
    field: str,
) -> str:
    """The id inside a `ResourceId`, once account and kind are found to fit."""
    wanted = KIND_NAMES[kind]
    if resource_id.kind not in (common_pb2.RK_UNSPECIFIED, kind):
        given = common_pb2.ResourceKind.Name(resource_id.kind) if _known(resource_id.kind) else "?"
        raise InvalidArgumentError(
            f"{field} must be {common_pb2.ResourceKind.Name(kind)}, but is {given}",
            field=f"{field}.kind",
        )
    if not resource_id.id:
        raise InvalidArgumentError(f"{field} is missing: give the {wanted}'s id", field=field)
    if not resource_id.account_id:
        raise InvalidArgumentError(
            f"{field}.account_id is empty: every id names its account", field=f"{field}.account_id"
        )
    if len(resource_id.id) > MAX_ID_LENGTH:
        raise InvalidArgumentError(f"{field} is too long to be an id", field=field)
    if resource_id.account_id != caller.account_id:
        raise not_found(kind, resource_id.id)
    return resource_id.id


def with_full_ids(spec: Spec, fields: Mapping[str, Kind]) -> Spec:
    """A copy of a specification whose ids have their kinds written out, so that they compare.

    Nothing is refused here: an id that may not change is refused as such, whosever it is, and one
    that may is looked up.
    """
    full = type(spec)()
    full.CopyFrom(spec)
    for name, kind in fields.items():
        if full.HasField(name) and getattr(full, name).kind == common_pb2.RK_UNSPECIFIED:
            getattr(full, name).kind = kind
    return full


def _known(kind: int) -> bool:
    return kind in common_pb2.ResourceKind.values()


def resource_id(account_id: str, kind: Kind, identifier: str) -> common_pb2.ResourceId:
    """A full id."""
    return common_pb2.ResourceId(account_id=account_id, id=identifier, kind=kind)
