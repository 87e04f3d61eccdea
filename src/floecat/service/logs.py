"""How log lines look: structured, with what names the call they belong to, on stderr."""

import logging
import sys
from collections.abc import MutableMapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

import structlog
from structlog.typing import Processor

CORRELATION_ID: Final = ContextVar[str]("correlation_id")
"""The call that the running code belongs to."""
ENGINE: Final = ContextVar[tuple[str, str]]("engine")
"""Kind and version of the engine that made it."""


def add_call(
    _logger: object, _name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Put what names the call, if there is one, into a log line."""
    kind, version = ENGINE.get(("", ""))
    named = {
        "correlation_id": CORRELATION_ID.get(""),
        "engine_kind": kind,
        "engine_version": version,
    }
    event.update({key: value for key, value in named.items() if value})
    return event


def configure_logs(*, as_json: bool, level: str) -> None:
    """Set up logging for this process, once, at its start."""
    shared: Sequence[Processor] = (
        add_call,
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
