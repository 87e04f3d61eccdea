"""Completing names in the shell: quick or not at all, and never with an error."""

import os
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import typer

from floecat.cli.session import new_session
from floecat.errors import FloecatError

if TYPE_CHECKING:
    from floecat.client.clients import GrpcClients

_PATIENCE: Final = timedelta(milliseconds=300)
_MOST: Final = 200


def complete_catalog(context: typer.Context, incomplete: str) -> list[str]:
    """Catalogs."""
    return _completed(context, incomplete, depth=1)


def complete_container(context: typer.Context, incomplete: str) -> list[str]:
    """Catalogs, then namespaces below them."""
    return _completed(context, incomplete)


def complete_relation(context: typer.Context, incomplete: str) -> list[str]:
    """Catalogs, namespaces, tables and views."""
    return _completed(context, incomplete, relations=True)


def _completed(
    context: typer.Context, incomplete: str, *, depth: int | None = None, relations: bool = False
) -> list[str]:
    *above, _ = incomplete.split(".")
    if '"' in incomplete or (depth is not None and len(above) >= depth):
        return []
    try:
        with _quick_client(context) as clients:
            names = list(_children(clients, above, incomplete, relations=relations))
    except (FloecatError, OSError, ValueError):
        return []
    return [name for name in names if name.startswith(incomplete)]


def _quick_client(context: typer.Context) -> "GrpcClients":
    import floecat  # noqa: PLC0415 - gRPC is slow to import, and this module always is
    from floecat.client.retries import RetryPolicy  # noqa: PLC0415 - as above

    given = context.find_root().params
    session = new_session(
        os.environ, given.get("settings_file"), given.get("server"), given.get("account")
    )
    settings = session.load_settings().settings.client
    options = floecat.ClientOptions(
        account=settings.account, timeout=_PATIENCE, retry=RetryPolicy(attempts=1)
    )
    return floecat.connect(settings.server, options)


def _children(
    clients: "GrpcClients", above: list[str], incomplete: str, *, relations: bool
) -> Iterator[str]:
    """Full names of what lies below, as far as they need no quotes."""
    from floecat.cli.folders import list_folder  # noqa: PLC0415 - as above
    from floecat.client.names import format_name  # noqa: PLC0415 - as above

    prefix = incomplete.rpartition(".")[2]
    for entry in list_folder(clients, above, prefix=prefix, limit=_MOST).entries:
        if entry.is_folder or relations:
            name = format_name([*above, entry.name])
            if '"' not in name:
                yield name
