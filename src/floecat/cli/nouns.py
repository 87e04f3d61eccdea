"""Named resources of any kind: the contract's messages for them are alike, and here that is used.

`CreateTable` takes a `CreateTableRequest` with a `spec`, answers with a `table` and its `meta`, and
so on for every kind. So the verbs are written once, and a command only adds what its kind has.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.field_mask_pb2 import FieldMask

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import catalog_pb2, namespace_pb2, table_pb2, view_pb2
from ai.floedb.floecat.common.common_pb2 import (
    MutationMeta,
    PageRequest,
    PageResponse,
    Precondition,
    ResourceId,
)
from ai.floedb.floecat.connector import connector_pb2
from floecat.cli.pages import Fetched, fetch_all
from floecat.cli.writes import Edit, Guard

if TYPE_CHECKING:
    from floecat.client.clients import GrpcClients


class Noun:
    """One kind, by the words the contract has for it."""

    def __init__(self, name: str, plural: str, messages: ModuleType) -> None:
        self.name = name
        self._plural = plural
        self._messages = messages
        self._title = name.title()

    def list(self, clients: "GrpcClients", limit: int | None, **filters: Any) -> Fetched[Any]:
        """Every one that the filters let through, or the first `limit`."""
        verb = f"List{self._plural.title()}"
        request_type = getattr(self._messages, f"{verb}Request")

        def page(request: PageRequest) -> tuple[Sequence[Any], PageResponse]:
            response = self._call(clients, verb, request_type(page=request, **filters))
            return getattr(response, self._plural), response.page

        return fetch_all(page, limit)

    def get(self, clients: "GrpcClients", resource_id: ResourceId) -> Any:
        """One, with its meta."""
        return self._ask(clients, "Get", **self._named(resource_id))

    def create(self, clients: "GrpcClients", key: str, **fields: Any) -> Any:
        """A new one, with the fields of its specification that aren't None."""
        spec = self._spec({name: value for name, value in fields.items() if value is not None})
        return self._ask(clients, "Create", spec=spec, idempotency=Guard(key=key).idempotency)

    def update(self, clients: "GrpcClients", resource_id: ResourceId, edit: Edit) -> Any:
        """Change one."""

        def read() -> tuple[Mapping[str, str], MutationMeta]:
            found = self.get(clients, resource_id)
            return self.shown(found).properties, found.meta

        def send(fields: Mapping[str, Any], expected: Precondition) -> Any:
            return self._ask(
                clients,
                "Update",
                **self._named(resource_id),
                spec=self._spec(fields),
                update_mask=FieldMask(paths=list(fields)),
                precondition=expected,
                idempotency=edit.guard.idempotency,
            )

        return edit.apply(read, send)

    def delete(
        self, clients: "GrpcClients", resource_id: ResourceId, guard: Guard, **fields: Any
    ) -> Any:
        """Delete one."""
        return self._ask(
            clients,
            "Delete",
            **self._named(resource_id),
            precondition=guard.precondition,
            idempotency=guard.idempotency,
            **fields,
        )

    def shown(self, answer: Any) -> Any:
        """The resource in an answer."""
        return getattr(answer, self.name)

    def _named(self, resource_id: ResourceId) -> dict[str, ResourceId]:
        return {f"{self.name}_id": resource_id}

    def _spec(self, fields: Mapping[str, Any]) -> Any:
        return getattr(self._messages, f"{self._title}Spec")(**fields)

    def _ask(self, clients: "GrpcClients", verb: str, **fields: Any) -> Any:
        method = f"{verb}{self._title}"
        return self._call(clients, method, getattr(self._messages, f"{method}Request")(**fields))

    def _call(self, clients: "GrpcClients", method: str, request: Any) -> Any:
        return getattr(getattr(clients, self._plural), method)(request)


ACCOUNT: Final = Noun("account", "accounts", account_pb2)
CATALOG: Final = Noun("catalog", "catalogs", catalog_pb2)
NAMESPACE: Final = Noun("namespace", "namespaces", namespace_pb2)
TABLE: Final = Noun("table", "tables", table_pb2)
VIEW: Final = Noun("view", "views", view_pb2)
CONNECTOR: Final = Noun("connector", "connectors", connector_pb2)
