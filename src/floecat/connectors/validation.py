"""Trying a connector: open it, list namespaces, close it, and tell how it went."""

import time
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Final

from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import ConnectorError, UpstreamProblem
from floecat.connectors.spi.records import Namespace

SHOWN: Final = 20
_TIMEOUT: Final = timedelta(seconds=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """How a trial went."""

    message: str
    elapsed: timedelta
    problem: UpstreamProblem | None = None
    namespaces: tuple[Namespace, ...] = ()
    """Some of those found."""
    capabilities: Capabilities | None = field(default=None)


def validate(opener: ConnectorOpener, config: ConnectorConfig) -> Validation:
    """Try a connector. A problem is an answer, not an exception."""
    started = time.monotonic()
    try:
        opener.check(config)
        with opener.open(config, _TIMEOUT) as connector:
            found = tuple(islice(connector.list_namespaces(), SHOWN + 1))
            capabilities = connector.capabilities
    except ConnectorError as error:
        return failed(error, _since(started))
    return Validation(
        message=_summary(found),
        elapsed=_since(started),
        namespaces=found[:SHOWN],
        capabilities=capabilities,
    )


def failed(error: ConnectorError, elapsed: timedelta = timedelta(0)) -> Validation:
    """The answer for a trial that ended in an error."""
    return Validation(message=error.message, elapsed=elapsed, problem=error.problem)


def _summary(found: tuple[Namespace, ...]) -> str:
    if not found:
        return "it answers, but has no namespaces that these credentials may see"
    more = "more than " if len(found) > SHOWN else ""
    return f"it answers; namespaces found: {more}{min(len(found), SHOWN)}"


def _since(started: float) -> timedelta:
    return timedelta(seconds=time.monotonic() - started)
