"""What `floecat stats` says where nothing is found: was it never captured, or is nothing there?"""

from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.connector.connector_pb2 import GetConnectorRequest
from floecat.cli.output import note
from floecat.cli.stats_asked import AskedTable
from floecat.client.names import format_name
from floecat.errors import NotFoundError, PermissionDeniedError

_CAPTURE: Final = "floecat connector trigger {} --mode metadata-and-capture --wait"


def table_record(asked: AskedTable) -> TargetStatsRecord:
    """What is known of a table as a whole; NotFoundError with what to do if that is nothing."""
    record = asked.find_record()
    if record is None:
        raise _not_captured(asked)
    return record


def say_none(asked: AskedTable, things: str, output: str) -> None:
    """Say why a table has none of these things; NotFoundError if it wasn't captured at all.

    `output` is what the command line calls them when a capture is to make them.
    """
    value = table_record(asked).table
    if value.HasField("data_file_count") and not value.data_file_count:
        note(f"{asked.name} was captured, and has no files")
        return
    note(
        f"{asked.name} was captured, but without {things}: "
        f"'floecat connector trigger' makes them with '--capture {output}'"
    )


def _not_captured(asked: AskedTable) -> NotFoundError:
    connector = _find_connector(asked)
    what = f"nothing was captured of {asked.name} yet"
    if connector is None:
        return NotFoundError(f"{what}: capture it with '{_CAPTURE.format('CONNECTOR')}'")
    return NotFoundError(
        f"{what}: capture it with '{_CAPTURE.format(connector)}'; if that was tried, "
        f"'floecat connector jobs {connector}' shows how it went"
    )


def _find_connector(asked: AskedTable) -> str | None:
    """The connector that the table comes from, as commands take it; None if there is none."""
    connector_id = asked.declared().upstream.connector_id
    if not connector_id.id:
        return None
    request = GetConnectorRequest(connector_id=connector_id)
    try:
        found = asked.connection.clients.connectors.GetConnector(request).connector
    except NotFoundError:
        return None
    except PermissionDeniedError:
        return connector_id.id
    return format_name([found.display_name])
