"""Layouts have versions: what another version of Floecat wrote is refused, never guessed at."""

from floecat.errors import IncompatibleStoreError


def require_version(what: str, found: int, known: int) -> None:
    """Refuse what is laid out in another version than is read here. `what` names it."""
    if found != known:
        raise IncompatibleStoreError(
            f"{what} has version {found} of its layout, and version {known} is what this version "
            "of Floecat reads: capture the snapshot again with --full"
        )
