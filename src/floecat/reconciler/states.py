"""Which way a job may go, as data: the documentation's diagram and the tests are made from it."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages

State: TypeAlias = messages.ReconcileJobState.ValueType

QUEUED: Final = messages.RJS_QUEUED
RUNNING: Final = messages.RJS_RUNNING
WAITING: Final = messages.RJS_WAITING
CANCELLING: Final = messages.RJS_CANCELLING
SUCCEEDED: Final = messages.RJS_SUCCEEDED
FAILED: Final = messages.RJS_FAILED
CANCELLED: Final = messages.RJS_CANCELLED

TRANSITIONS: Final[Mapping[State, frozenset[State]]] = {
    QUEUED: frozenset({RUNNING, CANCELLED}),
    RUNNING: frozenset({SUCCEEDED, FAILED, WAITING, QUEUED, CANCELLING}),
    WAITING: frozenset({SUCCEEDED, FAILED, QUEUED, CANCELLED}),
    CANCELLING: frozenset({CANCELLED}),
    SUCCEEDED: frozenset(),
    FAILED: frozenset(),
    CANCELLED: frozenset(),
}

TERMINAL: Final = frozenset(state for state, following in TRANSITIONS.items() if not following)
LEASED: Final = frozenset({RUNNING, CANCELLING})


class IllegalTransitionError(RuntimeError):
    """A job was to go where it can't: an error of ours, never of a caller."""


def require_transition(before: State, after: State) -> None:
    """Make sure that the table has this way."""
    if after not in TRANSITIONS[before]:
        names = messages.ReconcileJobState
        raise IllegalTransitionError(f"{names.Name(before)} can't become {names.Name(after)}")
