"""Authorisation as data: every RPC has a permission, every permission a role."""

import importlib

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from tests.unit.contract.surface import FILES, PACKAGE

from floecat.service.permissions import ADMINISTRATOR, ROLES, Permission, permission_for


def methods() -> list[MethodDescriptor]:
    found: list[MethodDescriptor] = []
    for name in FILES:
        importlib.import_module(f"{PACKAGE}.{name.replace('/', '.')}_pb2")
        file = descriptor_pool.Default().FindFileByName(f"{PACKAGE.replace('.', '/')}/{name}.proto")
        found += [method for s in file.services_by_name.values() for method in s.methods]
    return found


@pytest.mark.parametrize("method", methods(), ids=lambda method: method.full_name)
def test_every_rpc_needs_a_permission(method: MethodDescriptor) -> None:
    assert permission_for(method.containing_service.full_name, method.name) in Permission


def test_an_unknown_rpc_has_none() -> None:
    with pytest.raises(KeyError):
        permission_for(f"{PACKAGE}.catalog.TableService", "StealTable")


def test_every_permission_is_given_to_some_role() -> None:
    given = frozenset[Permission]().union(*ROLES.values())
    assert set(Permission) == given


def test_only_workers_do_the_work() -> None:
    allowed = {role for role, has in ROLES.items() if Permission.RECONCILE_WORK in has}
    assert allowed == {"reconcile-worker"}
    assert ROLES["reconcile-worker"] == {Permission.RECONCILE_WORK}


def test_readers_write_nothing() -> None:
    writes = {permission for permission in Permission if permission.endswith((".write", ".run"))}
    assert writes & ROLES["reader"] == set()
    assert writes <= ROLES[ADMINISTRATOR]
