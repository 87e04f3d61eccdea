"""What workers of this process ask upstreams for, counted."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, cast

import pyarrow as pa
import pytest

from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector

Calls = Counter[str]
"""Methods of connectors, and how often they were called; relations by name behind a space."""


class CountingConnector:
    """Passes everything on."""

    def __init__(self, connector: FloecatConnector, calls: Calls) -> None:
        self._connector = connector
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._connector, name)
        return self._counted(name, found) if callable(found) else found

    def _counted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            self._calls[name] += 1
            if len(arguments) > 1 and isinstance(arguments[1], str):
                self._calls[f"{name} {arguments[1]}"] += 1
            return method(*arguments, **named)

        return call


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Every connector that is opened meanwhile is counted."""
    calls: Calls = Counter()
    opened = ConnectorOpener.open

    def counting(opener: ConnectorOpener, config: ConnectorConfig, **more: Any) -> FloecatConnector:
        return cast("FloecatConnector", CountingConnector(opened(opener, config, **more), calls))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConnectorOpener, "open", counting)
        yield calls


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """Every file of a source that tasks of this process open meanwhile."""
    opened: list[str] = []
    real = FileAccess.open

    def noting(access: FileAccess, uri: str) -> pa.NativeFile:
        opened.append(uri)
        return real(access, uri)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FileAccess, "open", noting)
        yield opened
