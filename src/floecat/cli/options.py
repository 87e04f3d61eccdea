"""The options that commands share, so that they read the same on every noun."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from floecat.cli.completion import (
    complete_catalog,
    complete_container,
    complete_relation,
)

JsonFlag: TypeAlias = Annotated[
    bool, typer.Option("--json", help="For machines: JSON with stable keys.")
]
Limit: TypeAlias = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Show at most N.")
]
Prefix: TypeAlias = Annotated[
    str, typer.Option("--prefix", metavar="TEXT", help="Only names that start with this.")
]
Description: TypeAlias = Annotated[
    str | None, typer.Option("--description", metavar="TEXT", help="What it is, in a sentence.")
]
SetProperties: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a property. Repeatable."),
]
UnsetProperties: TypeAlias = Annotated[
    list[str] | None, typer.Option("--unset", metavar="KEY", help="Remove a property. Repeatable.")
]
Rename: TypeAlias = Annotated[
    str | None, typer.Option("--rename", metavar="NAME", help="Its new name, without its path.")
]
Etag: TypeAlias = Annotated[
    str | None, typer.Option("--etag", metavar="ETAG", help="Only if it still has this etag.")
]
Version: TypeAlias = Annotated[
    int | None, typer.Option("--version", metavar="N", help="Only if it still has this version.")
]
IdempotencyKey: TypeAlias = Annotated[
    str,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="Do it once, however often the command runs with this key (kept for 24 hours).",
    ),
]
Cascade: TypeAlias = Annotated[
    bool, typer.Option("--cascade", help="Delete everything in it too; asks first on a terminal.")
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]
IfExists: TypeAlias = Annotated[
    bool, typer.Option("--if-exists", help="Succeed if there is nothing to delete.")
]
IfNotExists: TypeAlias = Annotated[
    bool, typer.Option("--if-not-exists", help="Succeed if it exists already; changes nothing.")
]
Schema: TypeAlias = Annotated[
    str | None,
    typer.Option("--schema", metavar="FILE|-", help="Schema JSON, as the table's format has it."),
]
SnapshotId: TypeAlias = Annotated[
    int | None, typer.Option("--snapshot", metavar="ID", help="The snapshot with this id.")
]
AsOf: TypeAlias = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="The newest snapshot not later than this."),
]
Current: TypeAlias = Annotated[
    bool, typer.Option("--current", help="The current snapshot; this is also the default.")
]
OutputFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE|-", help="Where to write; - is stdout."),
]

NewName: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", help="What to call it.", show_default=False)
]
NewNamespace: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="NAMESPACE",
        help="What to call it, like sales.eu.",
        autocompletion=complete_container,
        show_default=False,
    ),
]
NewRelation: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="What to call it, like sales.eu.orders.",
        autocompletion=complete_container,
        show_default=False,
    ),
]
AccountName: TypeAlias = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="Its name or id.", show_default=False)
]
CatalogName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="CATALOG",
        help="Its name or id.",
        autocompletion=complete_catalog,
        show_default=False,
    ),
]
NamespaceName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="NAMESPACE",
        help="Its name, like sales.eu, or id.",
        autocompletion=complete_container,
        show_default=False,
    ),
]
ContainerName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="CATALOG|NAMESPACE",
        help="Where to look, like sales or sales.eu, or an id.",
        autocompletion=complete_container,
        show_default=False,
    ),
]
TableName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="Its name, like sales.eu.orders, or id.",
        autocompletion=complete_relation,
        show_default=False,
    ),
]
ViewName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="VIEW",
        help="Its name, like sales.eu.recent, or id.",
        autocompletion=complete_relation,
        show_default=False,
    ),
]
MoveTo: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--move-to",
        metavar="NAMESPACE",
        help="Where to move it, in the same catalog.",
        autocompletion=complete_container,
    ),
]
