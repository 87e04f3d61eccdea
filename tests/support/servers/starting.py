"""Fixtures of servers: one that can't be had makes its tests say why they didn't run."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

import pytest
from tests.support.servers.maven import ServerUnavailableError

T = TypeVar("T")


def started(server: AbstractContextManager[T]) -> Iterator[T]:
    with ExitStack() as stack:
        try:
            running = stack.enter_context(server)
        except ServerUnavailableError as error:
            pytest.skip(str(error))
        yield running
