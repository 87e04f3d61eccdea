"""KeyValueStore in one DynamoDB table, shared by any number of processes. Needs `boto3`."""

from floecat.storage.kv.dynamodb.store import DynamoDbKeyValueStore, DynamoDbOptions

__all__ = ["DynamoDbKeyValueStore", "DynamoDbOptions"]
