"""AccountService over the account repository."""

from ai.floedb.floecat.account.account_pb2 import (
    CreateAccountRequest,
    CreateAccountResponse,
    DeleteAccountRequest,
    DeleteAccountResponse,
    GetAccountRequest,
    GetAccountResponse,
    ListAccountsRequest,
    ListAccountsResponse,
    UpdateAccountRequest,
    UpdateAccountResponse,
)
from floecat.catalog.accounts import AccountRepository
from floecat.service.calls import Call


class AccountHandlers:
    """One method per RPC."""

    def __init__(self, accounts: AccountRepository) -> None:
        self._accounts = accounts

    def ListAccounts(self, request: ListAccountsRequest, call: Call) -> ListAccountsResponse:
        page = self._accounts.list(call.caller, request.page)
        return ListAccountsResponse(accounts=page.items, page=page.message)

    def GetAccount(self, request: GetAccountRequest, call: Call) -> GetAccountResponse:
        stored = (
            self._accounts.get(call.caller, request.account_id)
            if request.HasField("account_id")
            else self._accounts.get_own(call.caller)
        )
        return GetAccountResponse(account=stored.message, meta=stored.meta)

    def CreateAccount(self, request: CreateAccountRequest, call: Call) -> CreateAccountResponse:
        return self._accounts.create(call.caller, request)

    def UpdateAccount(self, request: UpdateAccountRequest, call: Call) -> UpdateAccountResponse:
        return self._accounts.update(call.caller, request)

    def DeleteAccount(self, request: DeleteAccountRequest, call: Call) -> DeleteAccountResponse:
        return self._accounts.delete(call.caller, request)
