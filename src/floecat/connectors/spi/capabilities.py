"""What a connector can do, as data: callers route by it instead of trying."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a connector says it can do. Everything else must fail with a clear error."""

    views: bool = False
    nested_namespaces: bool = False
    time_travel: bool = True
    """Snapshots other than the current one can be planned."""
    native_statistics: bool = True
    """`capture_snapshot_target_stats` knows more than file sizes."""
    native_ndv: bool = False
    constraints: bool = False
    position_deletes: bool = False
    equality_deletes: bool = False
    deletion_vectors: bool = False
    revisions: bool = False
    """`table_revisions` can tell cheaply whether a table has changed."""

    def shown(self) -> dict[str, str]:
        """As answers show them."""
        return {field.name: str(getattr(self, field.name)).lower() for field in fields(self)}
