"""The conformance suite: what every connector must do, for anyone who writes one.

from floecat.connectors.testing import ConnectorConformance

class TestMine(ConnectorConformance):
    @pytest.fixture
    def upstream(self) -> Upstream: ...
"""

from floecat.connectors.testing.conformance import ConnectorConformance, Upstream

__all__ = ["ConnectorConformance", "Upstream"]
