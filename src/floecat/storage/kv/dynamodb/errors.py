"""DynamoDB's failures: which mean "again", which mean "who knows", and the rest in our words."""

from enum import Enum
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, NoCredentialsError
from botocore.exceptions import ConnectionError as NoConnectionError

from floecat.errors import (
    FloecatError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
)

THROTTLED: Final = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
        "TransactionConflict",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_DENIED: Final = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    }
)


class Failure(Enum):
    """What a failed call says about itself."""

    REFUSED_FOR_NOW = "nothing happened; try again"
    UNKNOWN = "it may have happened"
    FINAL = "trying again won't help"


def classify(error: ClientError | BotoCoreError) -> Failure:
    """What may be done after an error."""
    if isinstance(error, NoConnectionError):
        return Failure.REFUSED_FOR_NOW
    if isinstance(error, HTTPClientError):
        return Failure.UNKNOWN
    if isinstance(error, ClientError):
        if error_code(error) in THROTTLED:
            return Failure.REFUSED_FOR_NOW
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500:
            return Failure.UNKNOWN
    return Failure.FINAL


def error_code(error: ClientError) -> str:
    """DynamoDB's name of the error."""
    return str(error.response.get("Error", {}).get("Code", ""))


def translate(error: ClientError | BotoCoreError) -> FloecatError | None:
    """Our error for one of DynamoDB's; None for what only a bug can cause."""
    if isinstance(error, NoCredentialsError):
        return PermissionDeniedError(f"no AWS credentials were found: {error}")
    if not isinstance(error, ClientError):
        return UnavailableError(f"DynamoDB doesn't answer: {error}")
    code = error_code(error)
    if code in _DENIED:
        return PermissionDeniedError(f"DynamoDB doesn't let us in: {error}")
    if code == "LimitExceededException":
        return ResourceExhaustedError(f"an AWS quota is used up: {error}")
    if code == "ResourceNotFoundException" or classify(error) is not Failure.FINAL:
        return UnavailableError(f"DynamoDB doesn't serve the table: {error}")
    return None
