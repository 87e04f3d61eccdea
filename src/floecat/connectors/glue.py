"""A client of AWS Glue, with the connector's keys and no others."""

from typing import Any

from floecat.connectors.spi.auth import AwsKeys
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorEnvironment


def glue_client(config: ConnectorConfig, environment: ConnectorEnvironment) -> Any:
    """Open a client. The server's own AWS identity is used only if the operator allows it."""
    try:
        import boto3  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise PermanentUpstreamError(
            "AWS Glue needs a library that isn't installed: pip install 'floecat[aws]'",
            UpstreamProblem.BAD_SPEC,
        ) from error
    keys = environment.auth.aws_keys()
    if keys is None and not environment.guard.rules.aws_default_chain:
        raise PermanentUpstreamError(
            "AWS Glue needs AWS keys: give credentials of type aws, or set aws.default-chain to "
            "use the server's own",
            UpstreamProblem.UNAUTHENTICATED,
        )
    endpoint = config.options.get("glue.endpoint")
    if endpoint:
        environment.guard.check_url(endpoint)
    session = boto3.session.Session(region_name=_region(config, keys), **_given(keys))
    return session.client("glue", endpoint_url=endpoint, config=_settings(environment))


def _region(config: ConnectorConfig, keys: AwsKeys | None) -> str:
    region = config.options.get("glue.region") or (keys.region if keys else "")
    if not region:
        raise PermanentUpstreamError(
            "AWS Glue needs a region: set the option glue.region", UpstreamProblem.BAD_SPEC
        )
    return region


def _given(keys: AwsKeys | None) -> dict[str, str | None]:
    if keys is None:
        return {}
    return {
        "aws_access_key_id": keys.access_key_id.reveal(),
        "aws_secret_access_key": keys.secret_access_key.reveal(),
        "aws_session_token": keys.session_token.reveal() if keys.session_token else None,
    }


def _settings(environment: ConnectorEnvironment) -> Any:
    from botocore.config import Config  # noqa: PLC0415 - an extra

    timeout, proxy = environment.timeout.total_seconds(), environment.guard.rules.proxy
    return Config(
        connect_timeout=timeout,
        read_timeout=timeout,
        retries={"total_max_attempts": 2, "mode": "standard"},
        proxies={"http": proxy, "https": proxy} if proxy else None,
    )
