"""SecretsStore: secrets by account and reference."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import uuid4

from floecat.errors import NotFoundError
from floecat.security.secret import Secret
from floecat.storage.kv.port import Operation


@dataclass(frozen=True, slots=True)
class SecretInfo:
    """A secret without its content."""

    account: str
    reference: str
    created_at: datetime


class SecretMissingError(NotFoundError):
    """The store has nothing under a reference."""

    default_reason = "SECRET_MISSING"


class SecretsStore(Protocol):
    """Keeps secrets. A reference is used once: what is put under it is never changed.

    A store on our own records hands out operations, so that a secret comes and goes in the commit
    of the record that names it. A store elsewhere writes at once; what a crash leaves there without
    a record is found by `list` and deleted.
    """

    def put(self, account: str, reference: str, content: Secret[bytes]) -> tuple[Operation, ...]:
        """Keep a secret: durably before this returns, or with the commit of what it returns."""

    def remove(self, account: str, reference: str) -> tuple[Operation, ...]:
        """What to commit with the record that stops naming a secret; `delete` follows."""

    def get(self, account: str, reference: str) -> Secret[bytes]:
        """The secret. `SecretMissingError` if there is none, DataLossError if it was changed."""

    def delete(self, account: str, reference: str) -> None:
        """Forget a secret; nothing happens if there is none."""

    def list(self) -> Iterable[SecretInfo]:
        """Every secret that is kept, of every account, in no order."""

    def close(self) -> None:
        """Give back what the store holds."""


def new_reference(what: str) -> str:
    """A reference that nobody has used: `what` says what it is for."""
    return f"{what}/{uuid4().hex}"


def missing(reference: str) -> SecretMissingError:
    """The error for a reference without a secret."""
    return SecretMissingError(
        f"the secrets store has nothing under {reference!r}: give the credentials again",
        metadata={"reference": reference},
    )
