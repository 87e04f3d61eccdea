"""What sets one kind of named resource apart: where it lives and what it may hold."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from google.protobuf.message import Message

from floecat.catalog.callers import Caller
from floecat.catalog.kinds import Kind
from floecat.catalog.masks import copy_shared_fields
from floecat.catalog.tree import Place
from floecat.storage.kv.port import Operation

M = TypeVar("M", bound=Message)
Spec = TypeVar("Spec", bound=Message)


@dataclass(frozen=True, slots=True)
class Home:
    """Where a resource lives: whose children it is among, and whose names it must not take."""

    names: str
    """The partition of the siblings' names."""
    place: Place | None = None
    """What it lies in; None for accounts, which lie in nothing."""
    parent: tuple[Kind, str, int] | None = None
    """Kind, id and version of what it lies in."""
    rivals: tuple[str, ...] = ()
    """Partitions of other kinds that share the siblings' names."""


def home_place(home: Home) -> Place:
    """The place of a home that has one."""
    if home.place is None:
        raise TypeError("accounts and catalogs lie in no place")
    return home.place


class ResourceRules(ABC, Generic[M, Spec]):
    """The rules of one kind."""

    kind: ClassVar[Kind]
    immutable: ClassVar[tuple[str, ...]] = ()
    swept: ClassVar[bool] = False
    """Whether deleting one always leaves work to the sweep."""
    message_type: type[M]
    spec_type: type[Spec]

    def account_of(self, caller: Caller, identifier: str) -> str:
        """The account whose partitions the resource lies in."""
        return caller.account_id

    @abstractmethod
    def home(self, caller: Caller, spec: Spec) -> Home:
        """Where a specification wants to be. NotFoundError if that doesn't exist."""

    @abstractmethod
    def home_of(self, account: str, message: M) -> Home:
        """Where a resource is. NotFoundError if anything above it is gone."""

    def check(self, caller: Caller, spec: Spec) -> None:
        """Refuse a specification that no place would make right."""

    def normalised(self, spec: Spec) -> Spec:
        """A specification with its ids written out in full, so that equal ones compare equal."""
        return spec

    def spec_of(self, message: M, home: Home) -> Spec:
        """The specification a resource would be created anew with."""
        spec = self.spec_type()
        copy_shared_fields(message, spec)
        return spec

    def sealed(
        self, account: str, identifier: str, spec: Spec, current: Spec | None
    ) -> tuple[Spec, tuple[Operation, ...]]:
        """A specification without what must not lie in a record, and what keeps that elsewhere."""
        return spec, ()

    def removed(self, account: str, message: M) -> tuple[Operation, ...]:
        """What deleting a resource commits besides."""
        return ()

    def put_in(self, message: M, home: Home) -> None:
        """Write into the message what it lies in."""

    def moved(self, account: str, message: M, home: Home) -> tuple[Operation, ...]:
        """What a move to another home commits besides names and guards."""
        return ()

    def derived(self, home: Home) -> M | None:
        """What answers show besides what is stored, because it follows from the home."""
        return None

    def child_partitions(self, account: str, identifier: str) -> Sequence[str]:
        """Where names of children are."""
        return ()
