"""What a failure leaves in the log: where it happened, but not what variables held."""

import subprocess
import sys

import pytest

PROGRAM = """
import structlog
from floecat.service.logs import configure_logs

configure_logs(as_json={as_json}, level="debug")

def fail(token: str) -> None:
    header = "Bearer " + token
    raise ValueError("something went wrong")

try:
    fail("can" + "ary")
except ValueError as error:
    structlog.get_logger().error("call", exc_info=error)
"""


@pytest.mark.parametrize("as_json", [True, False])
def test_tracebacks_show_no_values(as_json: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(as_json=as_json)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "something went wrong" in done.stderr
    assert "in fail" in done.stderr
    assert "canary" not in done.stderr
