"""Names that a run asks for and that lead nowhere upstream: told with what may have been meant."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from ai.floedb.floecat.reconciler.executor_control_pb2 import PlannedRelation
from floecat.client.names import format_name
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import ConnectorError, UpstreamGoneError
from floecat.connectors.spi.records import Namespace
from floecat.errors import InvalidArgumentError
from floecat.spelling import nearest
from floecat.worker.scopes import namespace_of

T = TypeVar("T")


def near(name: str, others: Iterable[str], above: Namespace = ()) -> str:
    """The end of a message: the name that is spelled most alike, if one is, with what it is in."""
    close = nearest(name, others)
    before = f"{format_name(above)}." if above else ""
    return f"; did you mean {before}{close}?" if close else ""


@dataclass(frozen=True, slots=True)
class AskedFor:
    """A relation that is looked for. One that isn't there is a failure if it was named."""

    kind: str
    relation: PlannedRelation
    connector: FloecatConnector
    siblings: Callable[[Namespace], Iterable[str]]
    """The names beside it."""

    @contextmanager
    def found(self) -> Iterator[None]:
        """Look for it inside."""
        try:
            yield
        except UpstreamGoneError as error:
            problem = self._problem() if self.relation.named else None
            if problem is None:
                raise
            raise InvalidArgumentError(problem) from error

    def _problem(self) -> str | None:
        """What is wrong with the name; None if it is there, and something else is gone."""
        namespace, name = namespace_of(self.relation.source), self.relation.source.name
        full_name = format_name([*namespace, name])
        known = _listed(lambda: self.siblings(namespace))
        if name in known:
            return None
        if known:
            others = (format_name([other]) for other in known)
            close = near(format_name([name]), others, namespace)
            return f"there is no {self.kind} {full_name} upstream{close}"
        places = [format_name(place) for place in _listed(self.connector.list_namespaces)]
        place = format_name(namespace)
        if not places or place in places:
            return f"there is no {self.kind} {full_name} upstream"
        return f"there is no namespace {place} upstream, for {full_name}{near(place, places)}"


def _listed(listing: Callable[[], Iterable[T]]) -> list[T]:
    """What is there; nothing if that can't be told: nobody asked for a list."""
    try:
        return list(listing())
    except ConnectorError:
        return []
