"""The queue's lives on DynamoDB Local: AWS's own idea of what DynamoDB does."""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest
from tests.model.queue_simulator import Simulation
from tests.model.test_queue_model import closing, live
from tests.support.clock import FakeClock
from tests.support.servers.dynamodb_local import running_dynamodb_local
from tests.support.servers.starting import started

from floecat.storage.kv.dynamodb import DynamoDbKeyValueStore, DynamoDbOptions

pytestmark = pytest.mark.interop("DynamoDB Local (queue)")

SOAK = bool(os.environ.get("SOAK"))
SEEDS, STEPS = (200, 500) if SOAK else (2, 100)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    yield from started(running_dynamodb_local())


@pytest.mark.parametrize("seed", range(SEEDS))
def test_on_dynamodb(seed: int, endpoint: str, aws_environment: None) -> None:
    clock = FakeClock()
    options = DynamoDbOptions(f"queue-{uuid4().hex}", endpoint=endpoint)
    with closing(DynamoDbKeyValueStore(options, clock=clock)) as kv:
        live(Simulation(kv, 3000 + seed, clock, check_every=50, torn=False), STEPS)
