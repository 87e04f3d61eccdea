"""A commit as one TransactWriteItems, and finding out what became of it if nobody says.

The client token makes DynamoDB answer a repeated request with the first one's success, for ten
minutes. Every item also carries its commit's id, for servers that ignore tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from floecat.clock import Clock
from floecat.errors import UnavailableError
from floecat.storage.kv.backoff import attempts
from floecat.storage.kv.dynamodb.calls import DynamoDbTable
from floecat.storage.kv.dynamodb.errors import THROTTLED, Failure, classify, error_code, translate
from floecat.storage.kv.dynamodb.items import transaction_items
from floecat.storage.kv.port import ANY, Check, Operation, Put
from floecat.storage.kv.versions import conflict, to_micros


@dataclass(frozen=True, slots=True)
class _Request:
    """One transaction. Sent again under its token it must be the same to the last byte."""

    token: str
    items: list[dict[str, Any]]


class Committer:
    """Commits operations that were checked."""

    def __init__(self, table: DynamoDbTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def run(self, operations: Sequence[Operation]) -> None:
        """Commit, or raise and have changed nothing."""
        conditional = [op for op in operations if not (isinstance(op, Check) and op.expect is ANY)]
        if not conditional:
            return
        request = self._request(conditional)
        unknown = False
        failure: Exception | None = None
        for _ in attempts(self._table.patience):
            try:
                self._table.client.transact_write_items(
                    TransactItems=request.items, ClientRequestToken=request.token
                )
            except (ClientError, BotoCoreError) as error:
                failure = error
                unknown = unknown or classify(error) is Failure.UNKNOWN
                if unknown and self._happened(request, conditional):
                    return
                _raise_if_final(error, conditional)
                if not unknown:  # nothing happened, so time may move on
                    request = self._request(conditional)
            else:
                return
        raise UnavailableError(f"DynamoDB doesn't take the commit: {failure}") from failure

    def _request(self, operations: Sequence[Operation]) -> _Request:
        token = uuid4().hex
        now = to_micros(self._clock())
        return _Request(token, transaction_items(self._table.name, operations, token, now))

    def _happened(self, request: _Request, operations: Sequence[Operation]) -> bool:
        """Whether anything that this request wrote is there to be seen."""
        written = [operation.key for operation in operations if isinstance(operation, Put)]
        found = self._table.get_many(written)
        return any(item["cid"]["S"] == request.token for item in found)


def _raise_if_final(error: ClientError | BotoCoreError, operations: Sequence[Operation]) -> None:
    """Raise what the caller must know; return when the same may be tried again."""
    if isinstance(error, ClientError) and error_code(error) == "TransactionCanceledException":
        reasons = [reason.get("Code") for reason in error.response["CancellationReasons"]]
        for operation, reason in zip(operations, reasons, strict=True):
            if reason == "ConditionalCheckFailed":
                raise conflict(operation.key, operation.expect) from error
        if all(reason in THROTTLED or reason in {None, "None"} for reason in reasons):
            return
    elif classify(error) is not Failure.FINAL:
        return
    raise (translate(error) or error) from error
