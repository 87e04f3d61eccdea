"""What is said of a connector on the command line, as parts of its specification."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final, TypeAlias

import typer
from google.protobuf.duration_pb2 import Duration

from ai.floedb.floecat.connector.connector_pb2 import (
    AuthConfig,
    AuthCredentials,
    BearerCredentials,
    CliCredentials,
    DestinationTarget,
    ReconcilePolicy,
    SourceSelector,
)
from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.reconciler.reconciler_pb2 import NamespacePath, SourceRelation
from floecat.cli.inputs import pairs, parsed, read_json, read_text
from floecat.client.names import parse_name
from floecat.errors import InvalidArgumentError
from floecat.settings.values import parse

MODES: Final = {
    "metadata-only": reconciler_pb2.METADATA_ONLY,
    "capture-only": reconciler_pb2.CAPTURE_ONLY,
    "metadata-and-capture": reconciler_pb2.METADATA_AND_CAPTURE,
    "metadata": reconciler_pb2.METADATA_ONLY,
    "capture": reconciler_pb2.CAPTURE_ONLY,
    "both": reconciler_pb2.METADATA_AND_CAPTURE,
}
"""The contract's words, and shorter ones."""

Kind: TypeAlias = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="iceberg-rest, iceberg-glue, iceberg-sql, iceberg-hive, iceberg-filesystem, "
        "delta-unity, delta-glue, delta-filesystem, or what a package adds.",
        show_default=False,
    ),
]
Uri: TypeAlias = Annotated[
    str | None, typer.Option("--uri", metavar="URI", help="The catalog, or the folder.")
]
Namespaces: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--namespace", metavar="NAME", help="Mirror this namespace only. Repeatable."),
]
Tables: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--table", metavar="NAME", help="Mirror this table only. Repeatable."),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="PATTERN", help="Leave out, like 'tmp.*'. Repeatable."),
]
Destination: TypeAlias = Annotated[
    str | None,
    typer.Option("--into", metavar="CATALOG[.NAMESPACE]", help="Where what is found goes."),
]
TokenFile: TypeAlias = Annotated[
    str | None,
    typer.Option("--token-file", metavar="FILE|-", help="Sign in with the token in this file."),
]
CredentialsFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--credentials",
        metavar="FILE|-",
        help='Sign in with credentials in JSON, like {"client": {"endpoint": …, "client_id": …, '
        '"client_secret": …}}.',
    ),
]
Tool: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cli",
        metavar="TOOL[:PROFILE]",
        help="Sign in as a tool on the server does: aws, databricks, azure, gcloud.",
    ),
]
Scheme: TypeAlias = Annotated[
    str | None,
    typer.Option("--auth-scheme", metavar="NAME", help="How to sign in; 'none' forgets secrets."),
]
AuthProperties: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--auth", metavar="KEY=VALUE", help="Like region=eu-west-1. Repeatable."),
]
Headers: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="NAME=FILE|-", help="Send a header; its value is a secret."),
]
Every: TypeAlias = Annotated[
    str | None,
    typer.Option("--every", metavar="TIME", help="Run by itself this often, like 15m; 'never'."),
]
Mode: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="What runs do: metadata-only, capture-only or metadata-and-capture.",
    ),
]
KeepSnapshots: TypeAlias = Annotated[
    int | None, typer.Option("--keep-snapshots", min=1, metavar="N", help="Keep the newest N.")
]


def source(
    namespaces: Sequence[str] | None, tables: Sequence[str] | None, exclude: Sequence[str] | None
) -> SourceSelector | None:
    """What is mirrored; None if nothing was said."""
    if not (namespaces or tables or exclude):
        return None
    return SourceSelector(
        namespaces=[NamespacePath(segments=parse_name(name)) for name in namespaces or ()],
        tables=[_relation(name) for name in tables or ()],
        exclude=exclude or (),
    )


def destination(into: str | None) -> DestinationTarget | None:
    """Where it goes; None if nothing was said."""
    if into is None:
        return None
    catalog, *path = parse_name(into)
    return DestinationTarget(catalog_display_name=catalog, namespace_path=path)


def auth(current: AuthConfig, **given: Any) -> AuthConfig | None:
    """How to sign in, from what was given and what is there; None if nothing was said.

    Secrets come from files or standard input: a command line is seen by everyone on the machine.
    """
    said = {name: value for name, value in given.items() if value}
    if not said:
        return None
    wanted = AuthConfig(
        scheme=given["scheme"] if given["scheme"] is not None else current.scheme,
        properties={**current.properties, **pairs(given["properties"], "--auth")},
        headers={**current.headers, **_headers(given["headers"])},
    )
    credentials = _credentials(given)
    if credentials is not None:
        wanted.credentials.CopyFrom(credentials)
        if given["scheme"] is None:
            wanted.scheme = ""  # what the credentials imply
    return wanted


def policy(
    current: ReconcilePolicy, every: str | None, mode: str | None, keep_snapshots: int | None
) -> ReconcilePolicy | None:
    """When it runs by itself; None if nothing was said."""
    if every is None and mode is None and keep_snapshots is None:
        return None
    wanted = ReconcilePolicy()
    wanted.CopyFrom(current)
    if every is not None:
        wanted.enabled = every != "never"
    if every is not None and every != "never":
        wanted.interval.CopyFrom(span(every, "--every"))
    if mode is not None:
        wanted.mode = known_mode(mode)
    if keep_snapshots is not None:
        wanted.keep_snapshots = keep_snapshots
    return wanted


def _credentials(given: Mapping[str, Any]) -> AuthCredentials | None:
    ways = [name for name in ("token_file", "credentials_file", "tool") if given[name]]
    if len(ways) > 1:
        raise InvalidArgumentError("give one of --token-file, --credentials and --cli")
    match ways:
        case ["token_file"]:
            token = read_text(given["token_file"]).strip()
            return AuthCredentials(bearer=BearerCredentials(token=token))
        case ["credentials_file"]:
            source = given["credentials_file"]
            return parsed(read_json(source), AuthCredentials, "--credentials")
        case ["tool"]:
            provider, _, profile = given["tool"].partition(":")
            return AuthCredentials(cli=CliCredentials(provider=provider, profile=profile))
        case _:
            return None


def _headers(words: Sequence[str] | None) -> dict[str, str]:
    return {name: read_text(file).strip() for name, file in pairs(words, "--header").items()}


def _relation(text: str) -> SourceRelation:
    *namespace, name = parse_name(text)
    if not namespace:
        raise InvalidArgumentError(f"--table {text}: write namespace.table, as the upstream does")
    return SourceRelation(namespace=NamespacePath(segments=namespace), name=name)


def span(text: str, option: str) -> Duration:
    """A length of time, like 15m."""
    try:
        parsed_time = parse(option, timedelta, text)
    except ValueError as error:
        raise InvalidArgumentError(f"{option} {text}: write a time like 30s, 15m or 2h") from error
    duration = Duration()
    duration.FromTimedelta(parsed_time)  # type: ignore[arg-type]  # what was asked for
    return duration


def known_mode(word: str) -> reconciler_pb2.CaptureMode.ValueType:
    """What runs do, by its word."""
    if word not in MODES:
        raise InvalidArgumentError(f"--mode {word}: it is one of {', '.join(MODES)}")
    return MODES[word]
