"""A client of AWS Glue, with the connector's keys and no others."""

from typing import Any

from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorEnvironment


def glue_client(config: ConnectorConfig, environment: ConnectorEnvironment) -> Any:
    """Open a client. The server's own AWS identity is used only if the operator allows it."""
    try:
        import boto3  # noqa: PLC0415 - an extra
        from botocore.config import Config  # noqa: PLC0415
    except ImportError as error:
        raise PermanentUpstreamError(
            "AWS Glue needs a library that isn't installed: pip install 'floecat[aws]'",
            UpstreamProblem.BAD_SPEC,
        ) from error
    keys = environment.auth.aws_keys()
    rules = environment.guard.rules
    if keys is None and not rules.aws_default_chain:
        raise PermanentUpstreamError(
            "AWS Glue needs AWS keys: give credentials of type aws, or set aws.default-chain to "
            "use the server's own",
            UpstreamProblem.UNAUTHENTICATED,
        )
    endpoint = config.options.get("glue.endpoint")
    if endpoint:
        environment.guard.check_url(endpoint)
    region = config.options.get("glue.region") or (keys.region if keys else "") or None
    if not region:
        raise PermanentUpstreamError(
            "AWS Glue needs a region: set the option glue.region", UpstreamProblem.BAD_SPEC
        )
    timeout = environment.timeout.total_seconds()
    settings = Config(
        connect_timeout=timeout,
        read_timeout=timeout,
        retries={"total_max_attempts": 2, "mode": "standard"},
        proxies={"http": rules.proxy, "https": rules.proxy} if rules.proxy else None,
    )
    given = (
        {
            "aws_access_key_id": keys.access_key_id.reveal(),
            "aws_secret_access_key": keys.secret_access_key.reveal(),
            "aws_session_token": keys.session_token.reveal() if keys.session_token else None,
        }
        if keys
        else {}
    )
    session = boto3.session.Session(region_name=region, **given)
    return session.client("glue", endpoint_url=endpoint, config=settings)
