"""The audit log: one line for every mutation that happened, with who, what and which version."""

import logging
from typing import Any, Final

import structlog
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from floecat.service.calls import Call

_LOG: Final = structlog.wrap_logger(
    None, wrapper_class=structlog.make_filtering_bound_logger(logging.INFO), log="floecat.audit"
)
"""Whatever `log.level` says: who changed what is kept."""


def is_mutation(method: MethodDescriptor) -> bool:
    """Whether an RPC changes records: those take an idempotency key and answer with a `meta`."""
    takes, answers = method.input_type.fields_by_name, method.output_type.fields_by_name
    return "idempotency" in takes and "meta" in answers


def audit(call: Call, request: Any, response: Message) -> None:
    """Write the line for a mutation."""
    after = response.meta.version  # type: ignore[attr-defined]  # every mutation answers with it
    deleted = len(response.DESCRIPTOR.fields) == 1
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
            snapshot = f"/{request.snapshot_id}" if hasattr(request, "snapshot_id") else ""
            return f"{value.id}{snapshot}"
    return ""
