"""Who is calling, and how we know."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol
from urllib.parse import unquote

from floecat.catalog.accounts import AccountRepository
from floecat.errors import UnauthenticatedError
from floecat.service.permissions import ADMINISTRATOR, ROLES, WORKER, Permission

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller whose account and roles are known."""

    account_id: str
    subject: str
    roles: frozenset[str]

    @property
    def administrator(self) -> bool:
        """Whether the caller may see and change other accounts."""
        return ADMINISTRATOR in self.roles

    def may(self, permission: Permission) -> bool:
        """Whether one of the caller's roles allows it."""
        return permission in _permissions_of(self.roles)


@cache
def _permissions_of(roles: frozenset[str]) -> frozenset[Permission]:
    """Everything that some roles allow together; there are few such sets."""
    return frozenset().union(*(ROLES.get(role, frozenset()) for role in roles))


class Authenticator(Protocol):
    """Finds out who is calling. Raises UnauthenticatedError."""

    def authenticate(self, headers: Headers) -> Principal:
        """The principal of a call."""
        ...


class DevAuthenticator:
    """Takes the caller's word for it: the account from `x-floe-account`, by id or by name, and the
    role from `x-floe-role`, which workers say they have.

    Only for a server that listens on this machine alone.
    """

    def __init__(self, accounts: AccountRepository, default_account_id: str) -> None:
        self._accounts = accounts
        self._default = default_account_id

    def authenticate(self, headers: Headers) -> Principal:
        """A caller of the account and with the role that are named; an administrator's without."""
        role = headers.get("x-floe-role", ADMINISTRATOR)
        if role not in ROLES:
            raise UnauthenticatedError(
                f"there is no role {role!r}: x-floe-role is one of {', '.join(ROLES)}",
                reason="UNKNOWN_ROLE",
            )
        # Workers take jobs of every account, so they must not depend on one.
        account = "" if role == WORKER else self._account_id(headers)
        return Principal(account, headers.get("x-floe-subject", "dev"), frozenset([role]))

    def _account_id(self, headers: Headers) -> str:
        named = unquote(headers.get("x-floe-account", ""))
        if not named:
            return self._default
        identifier = self._accounts.find_id(named)
        if identifier is None:
            raise UnauthenticatedError(
                f"there is no account {named!r}: name another with --account or client.account "
                "(the header x-floe-account), or leave it out",
                reason="UNKNOWN_ACCOUNT",
            )
        return identifier
