"""`floecat connector settings`: how connectors of the account run by themselves."""

from typing import Annotated

import typer
from google.protobuf.duration_pb2 import Duration

from ai.floedb.floecat.common.common_pb2 import Precondition
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CAPTURE_MODE_UNSPECIFIED,
    GetReconcilerSettingsRequest,
    ReconcilerSettings,
    UpdateReconcilerSettingsRequest,
)
from floecat.cli import options
from floecat.cli.connection import connected
from floecat.cli.connector_options import Mode, known_mode, span
from floecat.cli.descriptions import meta_fields
from floecat.cli.output import print_fields, print_message
from floecat.cli.run_texts import MODES, span_text
from floecat.cli.writes import Guard

Automatic = Annotated[
    bool | None,
    typer.Option("--auto/--no-auto", help="Whether connectors run by themselves at all."),
]
Every = Annotated[str | None, typer.Option("--every", metavar="TIME", help="How often, like 15m.")]
Parallel = Annotated[
    int | None,
    typer.Option("--max-parallel", min=1, metavar="N", help="Runs at the same time."),
]
Keep = Annotated[
    str | None,
    typer.Option("--keep-finished", metavar="TIME", help="How long ended runs are kept, like 24h."),
]


def settings(
    context: typer.Context,
    automatic: Automatic = None,
    every: Every = None,
    mode: Mode = None,
    max_parallel: Parallel = None,
    keep_finished: Keep = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Show the account's settings of automatic runs, or change some. Connectors may differ."""
    wanted = ReconcilerSettings(
        auto_enabled=automatic,
        interval=_duration(every, "--every"),
        mode=known_mode(mode) if mode else CAPTURE_MODE_UNSPECIFIED,
        max_parallel=max_parallel,
        finished_retention=_duration(keep_finished, "--keep-finished"),
    )
    with connected(context) as connection:
        if wanted.ByteSize():
            precondition = Precondition(expected_version=version)
            request = UpdateReconcilerSettingsRequest(
                settings=wanted,
                precondition=precondition,
                idempotency=Guard(key=idempotency_key).idempotency,
            )
            connection.clients.reconcile.UpdateReconcilerSettings(request)
        found = connection.clients.reconcile.GetReconcilerSettings(GetReconcilerSettingsRequest())
    if as_json:
        print_message(found)
        return
    shown, meta = found.settings, found.meta
    print_fields(
        {
            "automatic runs": "yes" if shown.auto_enabled else "no",
            "every": span_text(shown.interval.seconds),
            "mode": MODES.get(shown.mode, ""),
            "at the same time": str(shown.max_parallel),
            "ended runs kept for": span_text(shown.finished_retention.seconds),
            **(meta_fields(meta) if meta.version else {}),
        }
    )


def add_settings(app: typer.Typer) -> None:
    """Put the command among a connector's."""
    app.command(epilog="Example: floecat connector settings --auto --every 15m")(settings)


def _duration(text: str | None, option: str) -> Duration | None:
    return None if text is None else span(text, option)
