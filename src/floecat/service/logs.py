"""How log lines look: structured, with the correlation id of the call they belong to, on stderr."""

import logging
import sys
from collections.abc import MutableMapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

import structlog
from structlog.typing import Processor

CORRELATION_ID: Final = ContextVar[str]("correlation_id")
"""The call that the running code belongs to."""


def add_correlation_id(
    _logger: object, _name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Put the correlation id of the call, if there is one, into a log line."""
    correlation_id = CORRELATION_ID.get("")
    if correlation_id:
        event["correlation_id"] = correlation_id
    return event


def configure_logs(*, as_json: bool, level: str) -> None:
    """Set up logging for this process, once, at its start."""
    shared: Sequence[Processor] = (
        add_correlation_id,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    )
    finish: Sequence[Processor] = (
        (structlog.processors.format_exc_info, structlog.processors.JSONRenderer())
        if as_json
        else (_console(),)
    )
    structlog.configure(
        processors=[*shared, *finish],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _console() -> Processor:
    """Tracebacks without the values of variables: these may be secrets."""
    return structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
