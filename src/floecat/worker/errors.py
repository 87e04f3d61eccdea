"""Why work on a leased job ends early.

WorkEndedError              not a failure of the job: nobody is to blame for it
├── LeaseLostError          somebody else may have the job: say nothing more about it
├── WorkCancelledError      it isn't wanted any more
└── WorkHandedBackError     this worker is stopping
ControlPlaneAwayError       the control plane doesn't answer, or can't just now
"""

from floecat.errors import ErrorCode, FloecatError


class WorkEndedError(FloecatError):
    """The work has to end, though nothing is wrong with it."""

    code = ErrorCode.CANCELLED
    default_reason = "WORK_ENDED"


class LeaseLostError(WorkEndedError):
    """The lease is over."""

    code = ErrorCode.FAILED_PRECONDITION
    default_reason = "LEASE_LOST"


class WorkCancelledError(WorkEndedError):
    """The job was cancelled."""

    default_reason = "WORK_CANCELLED"


class WorkHandedBackError(WorkEndedError):
    """The worker is stopping."""

    default_reason = "WORK_HANDED_BACK"


class ControlPlaneAwayError(FloecatError):
    """No answer; the same call may be answered later."""

    code = ErrorCode.UNAVAILABLE
    default_reason = "CONTROL_PLANE_AWAY"
