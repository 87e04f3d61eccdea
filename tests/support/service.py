"""A running service to test against: real server, real sockets, stores in memory or in a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import floecat
from floecat.bootstrap import Floecat
from floecat.settings.load import load_settings


@contextmanager
def running_service(folder: Path, **settings: str) -> Iterator[Floecat]:
    """Start a service on a free port; `settings` are keys with `_` for `.` and `-`."""
    environment = {
        "FLOECAT_DATA_DIR": str(folder / "data"),
        "FLOECAT_SERVER_ADDRESS": "127.0.0.1:0",
        "FLOECAT_METRICS_ADDRESS": "",
        "FLOECAT_LOG_LEVEL": "error",
        "FLOECAT_SERVER_GRACE": "2s",
        **{f"FLOECAT_{key.upper()}": value for key, value in settings.items()},
    }
    empty = folder / "empty.toml"
    empty.write_text("")
    with Floecat(load_settings(environment, empty).settings) as service:
        yield service


@contextmanager
def connected(service: Floecat, **options: str) -> Iterator[floecat.GrpcClients]:
    """A client of the service."""
    account = options.pop("account", None)
    settings = floecat.ClientOptions(account=account, headers=options)
    with floecat.connect(f"127.0.0.1:{service.port}", settings) as clients:
        yield clients
