"""How a connector is described to people."""

from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.reconciler import reconciler_pb2
from floecat.cli.descriptions import identity_fields, in_full, pair_lines
from floecat.client.names import format_name


def connector_fields(connector: Connector, state: str) -> dict[str, str | list[str]]:
    """What a block about a connector says."""
    source = connector.source
    return {
        **identity_fields(format_name([connector.display_name]), connector.resource_id),
        "description": connector.description,
        "kind": connector.kind_name,
        "uri": connector.uri,
        "state": state,
        "namespaces": [format_name(path.segments) for path in source.namespaces],
        "tables": [format_name([*t.namespace.segments, t.name]) for t in source.tables],
        "excluded": list(source.exclude),
        "into": destination_text(connector),
        "signs in with": _sign_in(connector),
        "auth options": pair_lines(connector.auth.properties),
        "headers": sorted(connector.auth.headers),
        "runs": schedule_text(connector),
        "next run": in_full(connector.next_run_at),
        "last run": connector.last_job_id.id,
    }


def destination_text(connector: Connector) -> str:
    """Where what it finds goes."""
    target = connector.destination
    catalog = target.catalog_display_name or target.catalog_id.id
    return format_name([catalog, *target.namespace_path]) if catalog else ""


def schedule_text(connector: Connector) -> str:
    """When it runs by itself."""
    policy = connector.policy
    if not policy.HasField("enabled"):
        return "as the account's settings say" if policy.ByteSize() else ""
    if not policy.enabled:
        return "when triggered"
    every = f"every {_span(policy.interval.seconds)}" if policy.HasField("interval") else ""
    return " ".join(word for word in (every, _MODES.get(policy.mode, "")) if word)


def _span(seconds: int) -> str:
    """A time as `--every` takes it, in the largest unit that it is a whole number of."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _sign_in(connector: Connector) -> str:
    auth = connector.auth
    if not auth.has_credentials:
        return "nothing"
    scheme = f" as {auth.scheme}" if auth.scheme else ""
    return f"{auth.credentials_type} credentials{scheme}, kept under {auth.credentials_reference}"


_MODES = {
    reconciler_pb2.METADATA_ONLY: "(metadata)",
    reconciler_pb2.CAPTURE_ONLY: "(capture)",
    reconciler_pb2.METADATA_AND_CAPTURE: "(metadata and capture)",
}
