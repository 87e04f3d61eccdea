"""Floecat: a catalog of catalogs for lakehouses.

    import floecat
    clients = floecat.connect("localhost:9100")

Every folder below is a room with one purpose; `docs/architecture.md` draws the house and
import-linter keeps its doors (see `[tool.importlinter]` in pyproject.toml).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floecat.client.clients import ClientOptions as ClientOptions
    from floecat.client.clients import GrpcClients as GrpcClients
    from floecat.client.clients import connect as connect

_CLIENT = ("ClientOptions", "GrpcClients", "connect")


def __getattr__(name: str) -> Any:
    """The client's names, imported when they are first used: most rooms never need gRPC."""
    if name in _CLIENT:
        from floecat.client import clients  # noqa: PLC0415 - see above

        return getattr(clients, name)
    raise AttributeError(f"module 'floecat' has no attribute {name!r}")
