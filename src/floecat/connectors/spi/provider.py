"""ConnectorProvider: which kinds of connector are installed."""

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorFactory
from floecat.errors import InvalidSettingsError

GROUP: Final = "floecat.connectors"


class ConnectorProvider:
    """Factories by the name of their kind. Their code is loaded when the kind is asked for."""

    def __init__(self, installed: Mapping[str, EntryPoint | ConnectorFactory]) -> None:
        self._installed = dict(installed)

    @classmethod
    def from_entry_points(cls) -> "ConnectorProvider":
        """Every kind that an installed package offers. Two of one name are refused."""
        return cls(_unique(entry_points(group=GROUP)))

    def kinds(self) -> list[str]:
        """The names of the kinds there are."""
        return sorted(self._installed)

    def get(self, kind_name: str) -> ConnectorFactory:
        """The factory of a kind."""
        found = self._installed.get(kind_name)
        if found is None:
            known = ", ".join(self.kinds())
            raise PermanentUpstreamError(
                f"there is no connector of kind {kind_name!r}; installed are: {known}",
                UpstreamProblem.BAD_SPEC,
            )
        if isinstance(found, EntryPoint):
            factory: ConnectorFactory = found.load()
            self._installed[kind_name] = factory
            return factory
        return found


def _unique(points: Iterable[EntryPoint]) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in points:
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            raise InvalidSettingsError(
                f"two packages offer connectors of kind {point.name!r} ({other.value} and "
                f"{point.value}): uninstall one"
            )
    return found
