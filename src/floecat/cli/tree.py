"""`floecat tree`: what there is, drawn; large folders in part, and saying so."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from floecat.cli import options
from floecat.cli.addresses import KIND_NAMES
from floecat.cli.completion import complete_container
from floecat.cli.connection import connected
from floecat.cli.folders import Entry, list_catalogs, list_contents
from floecat.cli.output import draw, note, print_json, visible_text
from floecat.client.names import format_name

if TYPE_CHECKING:
    from rich.tree import Tree

    from floecat.client.clients import GrpcClients

_MOST: Final = 1000
"""Things drawn in one tree."""

_STYLES: Final = {
    common_pb2.RK_CATALOG: "bold cyan",
    common_pb2.RK_NAMESPACE: "cyan",
    common_pb2.RK_TABLE: "",
    common_pb2.RK_VIEW: "italic",
}


@dataclass(slots=True)
class Node:
    """Something in the tree, with what is drawn below it."""

    id: ResourceId
    name: str
    children: "list[Node]" = field(default_factory=list)
    more: bool = False


class Walk:
    """Reads a tree, never more of it than can be drawn."""

    def __init__(self, clients: "GrpcClients", depth: int | None, each: int) -> None:
        self._clients = clients
        self._depth = depth
        self._each = each
        self._left = _MOST
        self.complete = True

    def catalogs(self) -> list[Node]:
        """Every catalog with what is in it."""
        folder = list_catalogs(self._clients, "", self._each)
        self.complete = not folder.more
        return [self.node(entry, 1) for entry in folder.entries]

    def node(self, entry: Entry, depth: int = 0) -> Node:
        """Something, with what is in it."""
        node = Node(entry.id, entry.name)
        self._left -= 1
        if not entry.is_folder or depth == self._depth:
            return node
        if self._left <= 0:
            node.more, self.complete = True, False
            return node
        folder = list_contents(self._clients, entry.id, "", self._each)
        for child in folder.entries:
            if self._left <= 0:
                break
            node.children.append(self.node(child, depth + 1))
        node.more = folder.more or len(node.children) < len(folder.entries)
        self.complete = self.complete and not node.more
        return node


app = typer.Typer(add_completion=False)


@app.command(epilog="Example: floecat tree sales --depth 2")
def tree(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[CATALOG|NAMESPACE]",
            help="Where to begin; everything by default.",
            autocompletion=complete_container,
            show_default=False,
        ),
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, metavar="N", help="Levels to draw.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, metavar="N", help="Of each kind in a folder.")
    ] = 50,
    as_json: options.JsonFlag = False,
) -> None:
    """Draw catalogs, namespaces, tables and views as a tree."""
    with connected(context) as connection:
        walk = Walk(connection.clients, depth, limit)
        if name is None:
            nodes = walk.catalogs()
        else:
            found = connection.addresses.container(name)
            nodes = [walk.node(Entry(found, connection.addresses.full_name(name, found)))]
    if as_json:
        print_json([_json(node) for node in nodes])
        return
    for node in nodes:
        draw(_drawn(node, is_root=name is not None))
    if not walk.complete:
        note("… marks what was left out: name a folder to begin there, or raise --limit")


def _drawn(node: Node, *, is_root: bool) -> "Tree":
    from rich.text import Text  # noqa: PLC0415 - slow to import, and JSON doesn't need it
    from rich.tree import Tree  # noqa: PLC0415 - as above

    def label(of: Node, text: str) -> Text:
        kind = " (view)" if of.id.kind == common_pb2.RK_VIEW else ""
        return visible_text(text, _STYLES[of.id.kind]).append(kind, "dim")

    def grow(branch: Tree, below: Node) -> Tree:
        for child in below.children:
            grow(branch.add(label(child, format_name([child.name]))), child)
        if below.more:
            branch.add(Text("…", "dim"))
        return branch

    root = node.name if is_root else format_name([node.name])
    return grow(Tree(label(node, root), guide_style="dim"), node)


def _json(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "kind": KIND_NAMES[node.id.kind],
        "id": node.id.id,
        "children": [_json(child) for child in node.children],
        "more": node.more,
    }
