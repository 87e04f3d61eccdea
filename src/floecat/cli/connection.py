"""Reaching the service: one connection per command, and what to do when nobody answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

import floecat
from floecat.cli.addresses import Addresses
from floecat.cli.session import current_session
from floecat.errors import NO_ANSWER, DeadlineExceededError, FloecatError, UnavailableError
from floecat.settings.model import ClientSettings

if TYPE_CHECKING:
    from floecat.client.clients import GrpcClients


@dataclass(frozen=True, slots=True)
class Connection:
    """The service's stubs, and how to find what names and ids mean there."""

    clients: "GrpcClients"
    addresses: Addresses


@contextmanager
def connected(context: typer.Context) -> Iterator[Connection]:
    """A connection to the service that the settings name."""
    settings = current_session(context).load_settings().settings.client
    options = floecat.ClientOptions(account=settings.account, timeout=settings.timeout)
    with floecat.connect(settings.server, options) as clients, _explained(settings):
        yield Connection(clients, Addresses(clients, settings.account))


@contextmanager
def _explained(settings: ClientSettings) -> Iterator[None]:
    """Say what to do when the service itself had nothing to say."""
    try:
        yield
    except (UnavailableError, DeadlineExceededError) as error:
        if error.reason != NO_ANSWER:
            raise
        raise _silence(error, settings) from error


def _silence(error: FloecatError, settings: ClientSettings) -> FloecatError:
    if isinstance(error, DeadlineExceededError):
        return DeadlineExceededError(
            f"{settings.server} didn't answer within {settings.timeout.total_seconds():g} s: "
            "try again, or raise client.timeout"
        )
    return UnavailableError(
        f"no service answers at {settings.server}: start one with 'floecat serve', "
        "or name another with --server"
    )
