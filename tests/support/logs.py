"""Logs of this process as a test wants them, whatever services before it have set up."""

import sys

import structlog


def log_everything() -> None:
    """Let every event through, also of loggers that have been used before."""
    structlog.reset_defaults()
    for name, module in list(sys.modules.items()):
        logger = getattr(module, "_LOG", None) if name.startswith("floecat.") else None
        if logger is not None:
            logger.__dict__.pop("bind", None)  # where a logger keeps what it was set up with
