"""Accounts: the tenants, and the top of everything else."""

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from ai.floedb.floecat.account.account_pb2 import (
    Account,
    AccountSpec,
    CreateAccountRequest,
    CreateAccountResponse,
    DeleteAccountRequest,
    DeleteAccountResponse,
    UpdateAccountRequest,
    UpdateAccountResponse,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import PageRequest, ResourceId
from floecat.catalog import keys
from floecat.catalog.callers import MAX_ID_LENGTH, Caller, named_id, not_found
from floecat.catalog.children import list_names
from floecat.catalog.codec import Stored
from floecat.catalog.paging import MAX_PAGE_BYTES, Page, page_cursor
from floecat.catalog.records import CatalogStores
from floecat.catalog.resources import Resources
from floecat.catalog.rules import Home, ResourceRules
from floecat.errors import (
    ConflictError,
    FailedPreconditionError,
    InvalidArgumentError,
    PermissionDeniedError,
)
from floecat.storage.kv.port import ABSENT, ANY, Key, Operation, Put


class AccountRules(ResourceRules[Account, AccountSpec]):
    """An account lies in partitions of its own, below nothing."""

    kind = common_pb2.RK_ACCOUNT
    message_type = Account
    spec_type = AccountSpec

    def account_of(self, caller: Caller, identifier: str) -> str:
        return identifier

    def home(self, caller: Caller, spec: AccountSpec) -> Home:
        return Home(names=keys.ACCOUNTS)

    def home_of(self, account: str, message: Account) -> Home:
        return Home(names=keys.ACCOUNTS)

    def child_partitions(self, account: str, identifier: str) -> Sequence[str]:
        return [keys.catalogs(identifier), keys.connectors(identifier)]

    def removed(self, account: str, message: Account) -> tuple[Operation, ...]:
        return (Put(keys.sweep(account, self.kind, message.resource_id.id), b"", ANY),)

    def check(self, caller: Caller, spec: AccountSpec) -> None:
        if _looks_like_id(spec.display_name.strip()):
            raise InvalidArgumentError(
                "an account can't be called what could be another's id", field="spec.display_name"
            )


class AccountRepository:
    """Accounts by id and by name. Administrators see all of them, others their own."""

    def __init__(self, stores: CatalogStores) -> None:
        self._kv = stores.kv
        self._resources = Resources(stores, AccountRules())

    def list(self, caller: Caller, page: PageRequest) -> Page[Account]:
        """A page of accounts, by name."""
        cursor = page_cursor(page, "accounts", caller.account_id)
        if not caller.administrator:
            return Page([self._resources.get(caller, caller.account_id).message])
        names = list_names(self._kv, keys.ACCOUNTS, "", cursor)
        ids = [name.value.decode() for name in names.items]
        shown: list[Account] = []
        size = 0
        for number, identifier in enumerate(ids):
            stored = self._resources.records.find(identifier, identifier)
            if stored is None or stored.deleting:
                continue
            size += stored.message.ByteSize()
            if shown and size > MAX_PAGE_BYTES:
                return Page(shown, cursor.token(names.items[number - 1].key.sort))
            shown.append(stored.message)
        return Page(shown, names.next_page_token)

    def get(self, caller: Caller, account_id: ResourceId) -> Stored[Account]:
        """One account."""
        return self._resources.get(caller, _addressed(caller, account_id))

    def get_own(self, caller: Caller) -> Stored[Account]:
        """The account that the caller works in, whatever it is called."""
        return self._resources.get(caller, caller.account_id)

    def find_id(self, named: str) -> str | None:
        """The id of an account given by its name or its id, whoever asks: for signing in.

        An account that is being deleted has lost its name, but still has its id for a while.
        """
        if not 0 < len(named) <= MAX_ID_LENGTH:
            return None
        record = self._kv.get(Key(keys.ACCOUNTS, unicodedata.normalize("NFC", named)))
        if record is not None:
            return record.value.decode()
        stored = self._resources.records.find(named, named) if _looks_like_id(named) else None
        return None if stored is None or stored.deleting else named

    def find_default_id(self) -> str | None:
        """The account of callers who name none: by its id, since it may be renamed."""
        record = self._kv.get(keys.DEFAULT_ACCOUNT)
        return None if record is None else record.value.decode()

    def keep_default_id(self, account_id: str) -> None:
        """Say which account is the default one, unless that has been said before."""
        with suppress(ConflictError):
            self._kv.commit([Put(keys.DEFAULT_ACCOUNT, account_id.encode(), ABSENT)])

    def ever_had_a_catalog(self, account_id: str) -> bool:
        """Whether a catalog was ever made in an account, even if it was deleted since."""
        return any(self._kv.get_many(keys.guards(account_id, account_id)))

    def create(self, caller: Caller, request: CreateAccountRequest) -> CreateAccountResponse:
        """Add an account. For administrators."""
        if not caller.administrator:
            raise PermissionDeniedError("only administrators create accounts")
        return self._resources.create(caller, request, request.spec, CreateAccountResponse)

    def update(self, caller: Caller, request: UpdateAccountRequest) -> UpdateAccountResponse:
        """Change what the mask names."""
        identifier = _addressed(caller, request.account_id)
        return self._resources.update(caller, request, identifier, UpdateAccountResponse)

    def delete(self, caller: Caller, request: DeleteAccountRequest) -> DeleteAccountResponse:
        """Remove an account; everything in it too under `cascade`."""
        identifier = _addressed(caller, request.account_id)
        if identifier == self.find_default_id():
            raise FailedPreconditionError(
                "this is the default account, which callers belong to who name none: it can be "
                "renamed and emptied, but not deleted",
                reason="DEFAULT_ACCOUNT",
            )
        return self._resources.delete(
            caller, request, identifier, DeleteAccountResponse, cascade=request.cascade
        )


def _looks_like_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _addressed(caller: Caller, account_id: ResourceId) -> str:
    """The account an id names. It is its own account, and only administrators reach another's."""
    own = Caller(account_id.account_id)
    identifier = named_id(own, account_id, common_pb2.RK_ACCOUNT, "account_id")
    if identifier != account_id.account_id or not (
        caller.administrator or identifier == caller.account_id
    ):
        raise not_found(common_pb2.RK_ACCOUNT, identifier)
    return identifier
