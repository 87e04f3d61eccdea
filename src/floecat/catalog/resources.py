"""Named resources of any kind: created, updated, moved, listed and deleted by one set of steps."""

from typing import Generic, Protocol, TypeVar

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

from ai.floedb.floecat.common.common_pb2 import MutationMeta, PageRequest, Precondition
from floecat.catalog import keys
from floecat.catalog.callers import Caller, not_found, resource_id
from floecat.catalog.children import adopted, claimed, find_childless, list_names, released
from floecat.catalog.codec import Stored, serialized
from floecat.catalog.kinds import KIND_NAMES
from floecat.catalog.masks import copy_shared_fields, updated_spec
from floecat.catalog.mutations import Change, Mutations, check_precondition
from floecat.catalog.names import cleaned_name, cleaned_prefix
from floecat.catalog.paging import Page, page_cursor
from floecat.catalog.records import CatalogStores, Records, first_meta, new_id, next_meta
from floecat.catalog.replay import MutationRequest
from floecat.catalog.rules import Home, ResourceRules
from floecat.errors import AlreadyExistsError, FailedPreconditionError, NotFoundError
from floecat.storage.kv.port import ABSENT, ANY, Check, Delete, Key, Operation, Put

M = TypeVar("M", bound=Message)
Spec = TypeVar("Spec", bound=Message)
Spec_co = TypeVar("Spec_co", bound=Message, covariant=True)
Response = TypeVar("Response", bound=Message)


class UpdateRequest(MutationRequest, Protocol[Spec_co]):
    """An update of any kind."""

    @property
    def spec(self) -> Spec_co: ...
    @property
    def update_mask(self) -> FieldMask: ...
    @property
    def precondition(self) -> Precondition: ...


class GuardedRequest(MutationRequest, Protocol):
    """A mutation under a precondition."""

    @property
    def precondition(self) -> Precondition: ...


class Resources(Generic[M, Spec]):
    """The resources of one kind, kept by its rules."""

    def __init__(self, stores: CatalogStores, rules: ResourceRules[M, Spec]) -> None:
        self._stores = stores
        self._rules = rules
        self._mutations = Mutations(stores)
        self.records = Records(stores, rules.kind, rules.message_type)

    def get(self, caller: Caller, identifier: str) -> Stored[M]:
        """One resource, as answers show it."""
        stored, home = self._live(caller, identifier)
        return Stored(self._shown(stored.message, home), stored.meta, stored.version)

    def list(self, account: str, home: Home, name_prefix: str, page: PageRequest) -> Page[bytes]:
        """A page of the resources at home in one place, by name, as answers show them: framed rows.

        Appending to a message's bytes adds to its fields, so what follows from the home is appended
        and nothing is decoded.
        """
        prefix = cleaned_prefix(name_prefix)
        cursor = page_cursor(page, home.names, prefix)
        names = list_names(self._stores.kv, home.names, prefix, cursor)
        derived = self._rules.derived(home)
        appended = b"" if derived is None else serialized(derived)
        rows = self.records.find_rows(account, names.items, appended)
        if rows.count < len(names.items):
            return Page([rows.framed], cursor.token(names.items[rows.count - 1].key.sort))
        return Page([rows.framed], names.next_page_token)

    def create(
        self, caller: Caller, request: MutationRequest, spec: Spec, response_type: type[Response]
    ) -> Response:
        """Add a resource under a fresh id and a free name."""
        identifier = new_id()
        account = self._rules.account_of(caller, identifier)

        def change() -> Change[Response]:
            self._rules.check(caller, spec)
            home = self._rules.home(caller, spec)
            now = self._stores.now()
            message = self._rules.message_type(
                resource_id=resource_id(account, self._rules.kind, identifier), created_at=now
            )
            public, kept = self._rules.sealed(account, identifier, spec, None)
            self._fill(message, public, home)
            meta = first_meta(message, now)
            return Change(
                (
                    self.records.insert(account, identifier, message, meta),
                    *self._take_name(home, name_of(message), identifier),
                    *self._join(account, home, identifier),
                    *kept,
                ),
                self._answer(response_type, message, meta, home),
            )

        return self._mutations.run(caller, request, response_type, change)

    def update(
        self,
        caller: Caller,
        request: UpdateRequest[Spec],
        identifier: str,
        response_type: type[Response],
    ) -> Response:
        """Change what the mask names; a new name or place keeps the id and everything below."""
        account = self._rules.account_of(caller, identifier)

        def change() -> Change[Response]:
            stored, home = self._live(caller, identifier)
            check_precondition(request.precondition, stored.meta)
            current = self._rules.spec_of(stored.message, home)
            given = self._rules.normalised(request.spec)
            spec = updated_spec(current, given, request.update_mask, self._rules.immutable)
            self._rules.check(caller, spec)
            new_home = self._rules.home(caller, spec)
            message = self._rules.message_type()
            message.CopyFrom(stored.message)
            public, kept = self._rules.sealed(account, identifier, spec, current)
            self._fill(message, public, new_home)
            meta = next_meta(stored.meta, message, self._stores.now())
            return Change(
                (
                    self.records.replace(account, stored, message, meta),
                    *self._relocated(account, stored, home, message, new_home),
                    *kept,
                ),
                self._answer(response_type, message, meta, new_home),
            )

        return self._mutations.run(caller, request, response_type, change)

    def delete(
        self,
        caller: Caller,
        request: GuardedRequest,
        identifier: str,
        response_type: type[Response],
        *,
        cascade: bool = False,
    ) -> Response:
        """Remove a resource. What lies below goes with it under `cascade`; else it is refused."""
        account = self._rules.account_of(caller, identifier)

        def change() -> Change[Response]:
            stored, home = self._live(caller, identifier)
            check_precondition(request.precondition, stored.meta)
            removal: tuple[Operation, ...]
            if cascade or self._rules.swept:
                removal = (
                    self.records.mark_deleting(account, stored),
                    Put(keys.sweep(account, self._rules.kind, identifier), b"", ANY),
                )
            else:
                removal = (
                    Delete(keys.resource(account, self._rules.kind, identifier), stored.version),
                    *self._childless(account, stored.message, identifier),
                    *self._rules.removed(account, stored.message),
                )
            return Change(
                (*removal, released(home.names, name_of(stored.message))),
                response_type(meta=stored.meta),
            )

        return self._mutations.run(caller, request, response_type, change)

    def _live(self, caller: Caller, identifier: str) -> tuple[Stored[M], Home]:
        account = self._rules.account_of(caller, identifier)
        stored = self.records.get(account, identifier)
        try:
            return stored, self._rules.home_of(account, stored.message)
        except NotFoundError as error:
            raise not_found(self._rules.kind, identifier) from error

    def _fill(self, message: M, spec: Spec, home: Home) -> None:
        copy_shared_fields(spec, message)
        name = cleaned_name(name_of(spec), "spec.display_name")
        message.display_name = name  # type: ignore[attr-defined]  # every named kind has one
        self._rules.put_in(message, home)

    def _shown(self, message: M, home: Home) -> M:
        """The resource as answers show it."""
        derived = self._rules.derived(home)
        if derived is None:
            return message
        shown = self._rules.message_type()
        shown.CopyFrom(message)
        shown.MergeFrom(derived)
        return shown

    def _answer(
        self, response_type: type[Response], message: M, meta: MutationMeta, home: Home
    ) -> Response:
        field = KIND_NAMES[self._rules.kind]
        return response_type(**{field: self._shown(message, home), "meta": meta})

    def _take_name(self, home: Home, name: str, identifier: str) -> tuple[Operation, ...]:
        siblings = [Key(partition, name) for partition in (home.names, *home.rivals)]
        if any(self._stores.kv.get_many(siblings)):
            raise AlreadyExistsError(
                f"the name {name!r} is taken: choose another, or update what has it",
                reason=f"{KIND_NAMES[self._rules.kind].upper()}_EXISTS",
                metadata={"name": name},
            )
        rivals = (Check(key, ABSENT) for key in siblings[1:])
        return (claimed(home.names, name, identifier), *rivals)

    def _join(self, account: str, home: Home, identifier: str) -> tuple[Operation, ...]:
        return adopted(account, home.parent, identifier) if home.parent else ()

    def _relocated(
        self, account: str, stored: Stored[M], home: Home, message: M, new_home: Home
    ) -> tuple[Operation, ...]:
        try:
            return self._relocate(account, stored.message, home, message, new_home)
        except AlreadyExistsError:
            # A concurrent update may have given the name to this very resource after it was read:
            # then this conflicts, and everything is decided anew, the precondition first.
            identifier: str = message.resource_id.id  # type: ignore[attr-defined]  # as below
            record = keys.resource(account, self._rules.kind, identifier)
            self._stores.kv.commit([Check(record, stored.version)])
            raise

    def _relocate(
        self, account: str, old: M, old_home: Home, new: M, new_home: Home
    ) -> tuple[Operation, ...]:
        """Whatever a new name or a new place needs besides the record itself."""
        moved = old_home.names != new_home.names
        if not moved and name_of(old) == name_of(new):
            return ()
        identifier: str = new.resource_id.id  # type: ignore[attr-defined]  # every kind has one
        renamed = (
            released(old_home.names, name_of(old)),
            *self._take_name(new_home, name_of(new), identifier),
        )
        if not moved:
            return renamed
        return (
            *renamed,
            *self._join(account, new_home, identifier),
            *self._rules.moved(account, new, new_home),
        )

    def _childless(self, account: str, message: M, identifier: str) -> tuple[Operation, ...]:
        partitions = self._rules.child_partitions(account, identifier)
        if not partitions:
            return ()
        guards = find_childless(self._stores.kv, account, identifier, partitions)
        if guards is None:
            raise FailedPreconditionError(
                f"{name_of(message)!r} isn't empty: delete what is in it first, or use cascade",
                reason="NOT_EMPTY",
            )
        return guards


def name_of(message: Message) -> str:
    """The name of a named resource or its specification."""
    name: str = message.display_name  # type: ignore[attr-defined]  # every named kind has one
    return name
