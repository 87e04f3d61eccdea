"""The account of callers who name none, whatever it is called."""

from pathlib import Path

import pytest
from tests.support.service import connected, running_service

import floecat
from ai.floedb.floecat.account.account_pb2 import (
    AccountSpec,
    CreateAccountRequest,
    DeleteAccountRequest,
    GetAccountRequest,
    UpdateAccountRequest,
)
from ai.floedb.floecat.catalog.catalog_pb2 import ListCatalogsRequest
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler.executor_control_pb2 import LeaseReconcileJobRequest
from floecat.bootstrap import ensure_defaults
from floecat.catalog import keys
from floecat.catalog.accounts import AccountRepository
from floecat.catalog.consistency import ConsistencyCheck
from floecat.catalog.records import CatalogStores
from floecat.errors import FailedPreconditionError, FloecatError, UnauthenticatedError
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ANY, Delete


def own_id(clients: floecat.GrpcClients) -> ResourceId:
    return clients.accounts.GetAccount(GetAccountRequest()).account.resource_id


def rename(clients: floecat.GrpcClients, name: str) -> None:
    request = UpdateAccountRequest(account_id=own_id(clients), spec=AccountSpec(display_name=name))
    clients.accounts.UpdateAccount(request)


def test_it_may_be_renamed(tmp_path: Path) -> None:
    with running_service(tmp_path) as service, connected(service) as clients:
        rename(clients, "acme")
        listed = clients.catalogs.ListCatalogs(ListCatalogsRequest())
        assert [catalog.display_name for catalog in listed.catalogs] == ["main"]
        before = own_id(clients)
    with running_service(tmp_path) as service, connected(service) as clients:
        assert own_id(clients) == before
        with connected(service, account="acme") as named:
            assert own_id(named) == before


@pytest.mark.parametrize("cascade", [False, True])
def test_it_is_not_deleted(tmp_path: Path, cascade: bool) -> None:
    with (
        running_service(tmp_path, kv="memory", blobs="memory") as service,
        connected(service) as clients,
    ):
        request = DeleteAccountRequest(account_id=own_id(clients), cascade=cascade)
        with pytest.raises(FailedPreconditionError, match="default account"):
            clients.accounts.DeleteAccount(request)
        assert clients.catalogs.ListCatalogs(ListCatalogsRequest()).catalogs


def test_another_that_takes_its_old_name_is_not_it(tmp_path: Path) -> None:
    with running_service(tmp_path) as service, connected(service) as clients:
        rename(clients, "acme")
        spec = AccountSpec(display_name="default")
        other = clients.accounts.CreateAccount(CreateAccountRequest(spec=spec)).account.resource_id
        first = own_id(clients)
    with running_service(tmp_path) as service, connected(service) as clients:
        assert own_id(clients) == first
        clients.accounts.DeleteAccount(DeleteAccountRequest(account_id=other))


def test_a_store_that_does_not_know_it_finds_it_by_name_once() -> None:
    stores = CatalogStores(MemoryKeyValueStore(), MemoryBlobStore())
    first = ensure_defaults(stores)
    stores.kv.commit([Delete(keys.DEFAULT_ACCOUNT, ANY)])  # as earlier versions left it
    assert ensure_defaults(stores) == first
    assert AccountRepository(stores).find_default_id() == first
    assert list(ConsistencyCheck(stores).run()) == []


def test_an_unknown_account_says_how_to_name_another(tmp_path: Path) -> None:
    with (
        running_service(tmp_path, kv="memory", blobs="memory") as service,
        connected(service, account="nobody") as nobody,
        pytest.raises(UnauthenticatedError, match=r"--account or client\.account"),
    ):
        nobody.catalogs.ListCatalogs(ListCatalogsRequest())


def test_workers_depend_on_no_account(tmp_path: Path) -> None:
    options = floecat.ClientOptions(account="nobody", headers={"x-floe-role": "reconcile-worker"})
    with (
        running_service(tmp_path, kv="memory", blobs="memory") as service,
        floecat.connect(f"127.0.0.1:{service.port}", options) as worker,
        pytest.raises(FloecatError) as refusal,
    ):
        worker.executor.LeaseReconcileJob(LeaseReconcileJobRequest())
    assert refusal.value.code == "INVALID_ARGUMENT"  # it was let in, and asked for nothing
