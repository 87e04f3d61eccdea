"""`floecat admin`: looking after the stores themselves, with or without a service running.

The stores are the ones that the settings name, so these commands run where the service does.
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, cast

import typer

from floecat.cli import options
from floecat.cli.output import note, print_done, print_json, print_json_items, print_lines
from floecat.cli.session import current_session
from floecat.errors import InvalidArgumentError
from floecat.settings.model import Settings
from floecat.settings.values import parse

app = typer.Typer(
    name="admin",
    help="Look after the stores: check, back up, restore, clean up.",
    epilog="Example: floecat admin check",
    no_args_is_help=True,
    add_completion=False,
)


@app.command(epilog="Example: floecat admin check --json")
def check(context: typer.Context, as_json: options.JsonFlag = False) -> None:
    """Look whether records, indexes and blobs fit together; exit with 1 if they don't."""
    from floecat.administration import find_inconsistencies  # noqa: PLC0415 - clients needn't load it

    rows = (
        {"partition": f.key.partition, "sort": f.key.sort, "problem": f.problem}
        for f in find_inconsistencies(_settings(context))
    )
    # As they are found: there may be more than fit in memory, and the first may be enough.
    count = print_json_items(rows) if as_json else print_lines(map(_finding, rows))
    if count:
        note(f"{count} findings; while a service writes, check again before believing them")
        raise typer.Exit(1)
    if not as_json:
        print_done("everything fits together")


def _finding(row: dict[str, str]) -> str:
    return f"{row['partition']}  {row['sort']}  {row['problem']}"


@app.command(epilog="Example: floecat admin backup floecat-monday.tar")
def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The tar file to write.")],
    as_json: options.JsonFlag = False,
) -> None:
    """Copy the store into one file, as of one moment. The service may go on."""
    from floecat.administration import make_backup  # noqa: PLC0415 - as above

    made = make_backup(_settings(context), file)
    if as_json:
        print_json({"file": str(file), "blobs": made.blobs, "size_bytes": made.size_bytes})
        return
    print_done(f"wrote {file} ({made.size_bytes:,} bytes, {made.blobs} blobs)")
    if not made.manifest.blob_base:
        note("blobs aren't in it: they are in another store, and have to be kept there")


@app.command(epilog="Example: floecat admin restore floecat-monday.tar --force")
def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that backup wrote.")],
    force: Annotated[
        bool, typer.Option("--force", help="Put the store that is there aside.")
    ] = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Make a backup the store. Stop the service first; the backup is checked before it is used."""
    from floecat.administration import restore_backup  # noqa: PLC0415 - as above

    restored = restore_backup(_settings(context), file, force=force)
    kept = [str(path) for path in restored.kept]
    if as_json:
        print_json(
            {
                "taken_at": restored.manifest.taken_at,
                "incarnation": restored.incarnation,
                "kept": kept,
            }
        )
        return
    print_done(f"restored the store of {restored.manifest.taken_at}")
    for path in kept:
        note(f"what was there before is kept as {path}")


@app.command(epilog="Example: floecat admin gc --dry-run")
def gc(
    context: typer.Context,
    grace: Annotated[
        str,
        typer.Option(
            "--grace",
            metavar="DURATION",
            help="How long a blob must have been unnamed, from one pass to a later one.",
        ),
    ] = "24h",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be deleted.")
    ] = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Delete blobs that no record names, and secrets that no connector does.

    The first pass only takes note of the blobs.
    """
    from floecat.administration import (  # noqa: PLC0415 - as above
        collect_garbage,
        collect_secrets,
    )

    report = collect_garbage(_settings(context), _duration(grace), dry_run=dry_run)
    secrets = collect_secrets(_settings(context), dry_run=dry_run)
    if as_json:
        print_json(
            {
                "blobs": report.blobs,
                "waiting": report.waiting,
                "deleted": report.deleted,
                "freed_bytes": report.freed_bytes,
                "secrets": secrets,
            }
        )
        return
    verb = "would delete" if dry_run else "deleted"
    print_done(f"{verb} {report.deleted} of {report.blobs} blobs ({report.freed_bytes:,} bytes)")
    if secrets:
        print_done(f"{verb} {secrets} secrets of connectors that are gone")
    if report.waiting:
        note(f"{report.waiting} more have no record, but not for {grace} yet: run it again then")


@app.command("forget-secrets", epilog="Example: floecat admin forget-secrets --yes")
def forget_secrets(
    context: typer.Context, yes: options.Yes = False, as_json: options.JsonFlag = False
) -> None:
    """Delete every secret when their key is lost. Connectors stay, and need credentials again."""
    from floecat.administration import forget_all_secrets  # noqa: PLC0415 - as above

    if not yes:
        raise InvalidArgumentError(
            "this deletes the credentials of every connector, of every account: say --yes"
        )
    count = forget_all_secrets(_settings(context))
    if as_json:
        print_json({"secrets": count})
    else:
        print_done(f"deleted {count} secrets; start the service, and update each connector")


@app.command(epilog="Example: floecat admin sweep")
def sweep(context: typer.Context, as_json: options.JsonFlag = False) -> None:
    """Finish deletions now. A running service does it in the background."""
    from floecat.administration import finish_deletions  # noqa: PLC0415 - as above

    finish_deletions(_settings(context))
    if as_json:
        print_json({})
    else:
        print_done("nothing is left to delete")


def _settings(context: typer.Context) -> Settings:
    return current_session(context).load_settings().settings


def _duration(text: str) -> timedelta:
    try:
        duration = cast("timedelta", parse("grace", timedelta, text))
    except ValueError as error:
        raise InvalidArgumentError(f"--grace {error}") from error
    if duration < timedelta(0):
        raise InvalidArgumentError("--grace must not be negative")
    return duration
