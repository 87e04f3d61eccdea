"""What the servers' tests share; at the end a row for each server, with why it didn't run."""

from collections import Counter
from collections.abc import Iterator
from uuid import uuid4

import boto3
import pytest
from tests.support.moto import Moto

_SERVER = "server"
_UNNAMED = "(a server without a name)"


@pytest.fixture(scope="module")
def bucket(moto: Moto, aws_environment: None) -> str:
    """A bucket of moto's S3."""
    name = f"lake-{uuid4().hex}"
    client = boto3.client("s3", endpoint_url=moto.endpoint, region_name="us-east-1")
    client.create_bucket(Bucket=name)
    client.close()
    return name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reports carry their server's name, from the mark `interop(server)`."""
    for item in items:
        mark = item.get_closest_marker("interop")
        if mark is not None:
            item.user_properties.append((_SERVER, mark.args[0] if mark.args else _UNNAMED))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows: dict[str, Counter[str]] = {}
    reasons: dict[str, str] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            for server in _servers(report):
                rows.setdefault(server, Counter())[outcome] += 1
                if outcome == "skipped":
                    reasons[server] = _reason(report)
    if not rows:
        return
    terminalreporter.section("servers")
    width = max(len(server) for server in rows)
    for server, counts in sorted(rows.items()):
        terminalreporter.write_line(f"{server:{width}}  {_row(counts, reasons.get(server, ''))}")


def _servers(report: pytest.TestReport | pytest.CollectReport) -> Iterator[str]:
    if isinstance(report, pytest.TestReport) and (report.when == "call" or not report.passed):
        yield from (str(value) for key, value in report.user_properties if key == _SERVER)


def _row(counts: Counter[str], reason: str) -> str:
    failed = counts["failed"] + counts["error"]
    ran = f"{counts['passed']} passed, {failed} failed"
    if not counts["skipped"]:
        return ran
    if not counts["passed"] and not failed:
        return f"not run: {reason}"
    return f"{ran}, {counts['skipped']} not run: {reason}"


def _reason(report: pytest.TestReport) -> str:
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return why.removeprefix("Skipped: ")
