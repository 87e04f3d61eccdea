"""What can be seen to be wrong with a connector before anything is contacted."""

import pytest

from floecat.connectors.auth.registry import AuthProviders
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.provider import ConnectorProvider
from floecat.security.guard import OutboundGuard, OutboundRules

URIS = {
    "iceberg-rest": "https://catalog",
    "iceberg-sql": "sqlite:////lake.db",
    "delta-filesystem": "file:///lake",
    "delta-glue": "",
}


@pytest.fixture
def opener() -> ConnectorOpener:
    return ConnectorOpener(
        provider=ConnectorProvider.from_entry_points(),
        auth=AuthProviders.from_entry_points(),
        guard=OutboundGuard(OutboundRules()),
    )


@pytest.mark.parametrize("kind", URIS)
@pytest.mark.parametrize(
    ("options", "words"),
    [({"waerhouse": "x"}, "no option waerhouse"), ({"s3.region": "eu.evil/"}, "name of a region")],
)
def test_strange_options_are_refused(
    opener: ConnectorOpener, kind: str, options: dict[str, str], words: str
) -> None:
    config = ConnectorConfig(kind_name=kind, uri=URIS[kind], options=options)
    with pytest.raises(PermanentUpstreamError, match=words) as raised:
        opener.check(config)
    assert raised.value.problem is UpstreamProblem.BAD_SPEC
