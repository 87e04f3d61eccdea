"""The audit log: one line for every mutation that happened, with who, what and which version."""

from typing import Any, Final

import structlog
from google.protobuf.message import Message

from floecat.service.calls import Call

_LOG: Final = structlog.get_logger("floecat.audit")


def audit(call: Call, request: Any, response: Message) -> None:
    """Write the line, if the call was a mutation: those answer with a `meta` and take a key."""
    fields = response.DESCRIPTOR.fields_by_name
    if "meta" not in fields or not hasattr(request, "idempotency"):
        return
    after = response.meta.version  # type: ignore[attr-defined]  # looked up just above
    deleted = len(fields) == 1
    _LOG.info(
        "mutation",
        method=call.method,
        account=call.principal.account_id,
        subject=call.principal.subject,
        resource=_resource_of(request, response),
        before=after if deleted else after - 1,
        after=None if deleted else after,
    )


def _resource_of(request: Any, response: Message) -> str:
    """The id of what was changed."""
    for field, value in response.ListFields():
        if hasattr(value, "resource_id"):
            return str(value.resource_id.id)
        if hasattr(value, "table_id") and field.name != "meta":
            return f"{value.table_id.id}/{value.snapshot_id}"
    for field, value in request.ListFields():
        if field.name.endswith("_id") and hasattr(value, "account_id"):
            return str(value.id)
    return ""
