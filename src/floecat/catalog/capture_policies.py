"""What a capture policy may ask for: of a run, of a connector or of an account."""

from ai.floedb.floecat.execution.capture_pb2 import DCS_EXPLICIT, DCS_FIRST_N, CapturePolicy
from floecat.errors import InvalidArgumentError


def check_capture_policy(policy: CapturePolicy, field: str) -> None:
    """Refuse what means nothing. `field` is where the policy is in its request."""
    _check_first_n(policy, field)
    share = policy.sampling.row_group_fraction
    if policy.HasField("sampling") and not 0 < share <= 1:
        raise InvalidArgumentError(
            f"{share:g} isn't a share of the row groups: give one above 0 and at most 1, or leave "
            "sampling out",
            field=f"{field}.sampling.row_group_fraction",
        )


def require_columns(policy: CapturePolicy, field: str) -> None:
    """Refuse a policy that leaves the columns to be named where none is."""
    if policy.default_scope == DCS_EXPLICIT and not policy.columns:
        raise InvalidArgumentError(
            "only columns that are named are to be captured, and none is: name some, or give "
            "another default_scope",
            field=f"{field}.columns",
        )


def _check_first_n(policy: CapturePolicy, field: str) -> None:
    if policy.default_scope == DCS_FIRST_N and policy.first_n < 1:
        raise InvalidArgumentError(
            f"first_n is {policy.first_n}: give at least 1, or another default_scope",
            field=f"{field}.first_n",
        )
