"""Secrets in AWS Secrets Manager, one entry each, below a prefix."""

from collections.abc import Iterator
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from floecat.errors import PermissionDeniedError, UnavailableError
from floecat.security.secret import Secret
from floecat.security.secrets.port import SecretInfo, missing
from floecat.storage.kv.port import Operation

_PERMISSION: Final = frozenset({"AccessDeniedException", "UnrecognizedClientException"})
_RETRIES: Final = {"max_attempts": 5, "mode": "standard"}


class AwsSecretsStore:
    """Speaks with the server's own AWS identity, which is the operator's choice, not a tenant's."""

    def __init__(
        self, prefix: str, *, region: str | None = None, endpoint: str | None = None
    ) -> None:
        self._prefix = prefix.strip("/")
        self._client: Any = boto3.session.Session().client(
            "secretsmanager",
            region_name=region,
            endpoint_url=endpoint,
            config=Config(retries=_RETRIES, connect_timeout=5, read_timeout=15),
        )

    def put(self, account: str, reference: str, content: Secret[bytes]) -> tuple[Operation, ...]:
        name = self._name(account, reference)
        with _translated("CreateSecret"):
            self._client.create_secret(Name=name, SecretBinary=content.reveal())
        return ()

    def remove(self, account: str, reference: str) -> tuple[Operation, ...]:
        return ()

    def get(self, account: str, reference: str) -> Secret[bytes]:
        try:
            with _translated("GetSecretValue"):
                answer = self._client.get_secret_value(SecretId=self._name(account, reference))
        except _MissingError:
            raise missing(reference) from None
        return Secret(bytes(answer["SecretBinary"]))

    def delete(self, account: str, reference: str) -> None:
        try:
            with _translated("DeleteSecret"):
                self._client.delete_secret(
                    SecretId=self._name(account, reference), ForceDeleteWithoutRecovery=True
                )
        except _MissingError:
            pass

    def list(self) -> Iterator[SecretInfo]:
        token: dict[str, str] = {}
        while True:
            with _translated("ListSecrets"):
                page = self._client.list_secrets(
                    Filters=[{"Key": "name", "Values": [f"{self._prefix}/"]}], **token
                )
            for entry in page["SecretList"]:
                _, _, rest = entry["Name"].partition(f"{self._prefix}/")
                account, _, reference = rest.partition("/")
                yield SecretInfo(account, reference, entry["CreatedDate"])
            if "NextToken" not in page:
                return
            token = {"NextToken": page["NextToken"]}

    def close(self) -> None:
        self._client.close()

    def _name(self, account: str, reference: str) -> str:
        return f"{self._prefix}/{account}/{reference}"


class _MissingError(Exception):
    pass


class _translated:  # noqa: N801 - reads as a word in `with`
    """Turns the SDK's errors into ours. Nothing of a request is repeated in a message."""

    def __init__(self, action: str) -> None:
        self._action = action

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ClientError):
            code = error.response["Error"]["Code"]
            if code == "ResourceNotFoundException":
                raise _MissingError from error
            if code in _PERMISSION:
                raise PermissionDeniedError(
                    f"AWS Secrets Manager doesn't allow {self._action} ({code}): give the "
                    "service's role that permission"
                ) from error
            raise UnavailableError(f"AWS Secrets Manager refused {self._action}: {code}") from error
        if isinstance(error, BotoCoreError):
            raise UnavailableError(
                f"AWS Secrets Manager can't be reached ({type(error).__name__})"
            ) from error
