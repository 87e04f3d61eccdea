"""Making the table, or making sure that the one there is ours."""

from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from floecat.errors import IncompatibleStoreError
from floecat.storage.kv.dynamodb.errors import error_code, translate

_KEY_SCHEMA: Final = [
    {"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "sk", "KeyType": "RANGE"},
]
_ATTRIBUTES: Final = [
    {"AttributeName": "pk", "AttributeType": "S"},
    {"AttributeName": "sk", "AttributeType": "S"},
]


def prepare(client: Any, table: str) -> None:
    """Leave with a table that holds records."""
    try:
        description = _describe(client, table) or _create(client, table)
    except (ClientError, BotoCoreError) as error:
        raise (translate(error) or error) from error
    keys = [(key["AttributeName"], key["KeyType"]) for key in description["KeySchema"]]
    if keys != [(key["AttributeName"], key["KeyType"]) for key in _KEY_SCHEMA]:
        raise IncompatibleStoreError(f"the DynamoDB table {table} isn't a Floecat store")


def _describe(client: Any, table: str) -> Any:
    try:
        return client.describe_table(TableName=table)["Table"]
    except ClientError as error:
        if error_code(error) == "ResourceNotFoundException":
            return None
        raise


def _create(client: Any, table: str) -> Any:
    try:
        client.create_table(
            TableName=table,
            KeySchema=_KEY_SCHEMA,
            AttributeDefinitions=_ATTRIBUTES,
            BillingMode="PAY_PER_REQUEST",
        )
    except ClientError as error:
        if error_code(error) != "ResourceInUseException":  # another process was quicker
            raise
    client.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 1})
    _expire_by_ttl(client, table)
    return _describe(client, table)


def _expire_by_ttl(client: Any, table: str) -> None:
    try:
        client.update_time_to_live(
            TableName=table, TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": True}
        )
    except ClientError as error:
        # Said when it is enabled already, or being enabled by another process just now.
        if error_code(error) != "ValidationException":
            raise
