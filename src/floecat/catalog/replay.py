"""Idempotency: the answer to a mutation, remembered with its effect and given again."""

import hashlib
from datetime import timedelta
from typing import Final, Generic, Literal, Protocol, TypeVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from ai.floedb.floecat.catalog.stored_pb2 import StoredResponse
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey
from floecat.catalog import keys
from floecat.catalog.callers import Caller
from floecat.catalog.records import CatalogStores
from floecat.errors import AbortedError, InvalidArgumentError
from floecat.storage.kv.port import ABSENT, Key, Operation, Put

RETENTION: Final = timedelta(hours=24)
MAX_KEY_LENGTH: Final = 255

Response = TypeVar("Response", bound=Message)


class MutationRequest(Protocol):
    """A request that may carry an idempotency key."""

    DESCRIPTOR: Descriptor

    @property
    def idempotency(self) -> IdempotencyKey: ...

    def HasField(self, field_name: Literal["idempotency"], /) -> bool: ...  # noqa: N802

    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...  # noqa: N802


class Replay(Generic[Response]):
    """One request's place among the remembered answers; without a key there is none."""

    def __init__(
        self,
        stores: CatalogStores,
        caller: Caller,
        request: MutationRequest,
        response_type: type[Response],
    ) -> None:
        self._stores = stores
        self._account = caller.account_id
        self._response_type = response_type
        self._key = _key(caller, request)
        self._fingerprint = hashlib.sha256(request.SerializeToString(deterministic=True)).digest()

    def find_answer(self) -> Response | None:
        """The answer given before. Another request under the same key is refused."""
        record = self._stores.kv.get(self._key) if self._key else None
        if record is None:
            return None
        stored = StoredResponse.FromString(record.value)
        if stored.request_fingerprint != self._fingerprint:
            raise AbortedError(
                "this idempotency key was used for another request: choose a new one",
                reason="IDEMPOTENCY_MISMATCH",
            )
        return self._stores.codec.decode_response(stored, self._response_type)

    def remember(self, response: Response) -> tuple[Operation, ...]:
        """The operation that remembers an answer, to be committed with its effect."""
        if self._key is None:
            return ()
        value = self._stores.codec.encode_response(self._account, self._fingerprint, response)
        return (Put(self._key, value, ABSENT, self._stores.clock() + RETENTION),)


def is_remembered(stores: CatalogStores, caller: Caller, request: MutationRequest) -> bool:
    """Whether there is an answer under the request's key, to this request or to another."""
    key = _key(caller, request)
    return key is not None and stores.kv.get(key) is not None


def _key(caller: Caller, request: MutationRequest) -> Key | None:
    if not request.HasField("idempotency"):
        return None
    key = request.idempotency.key
    if not key:
        raise InvalidArgumentError(
            "the idempotency key is empty: give one, or leave idempotency out",
            field="idempotency.key",
        )
    if len(key) > MAX_KEY_LENGTH:
        raise InvalidArgumentError(
            f"the idempotency key has {len(key)} characters: at most {MAX_KEY_LENGTH} are allowed",
            field="idempotency.key",
        )
    return keys.idempotency(caller.account_id, request.DESCRIPTOR.full_name, key)
