"""Where catalog records lie in the key-value store. Nothing else in this room builds keys.

    resource/{account} {kind}/{id}              a resource, by id
    accounts {name}                             an account's id, by name
    default account                             the id of the account of callers who name none
    catalogs/{account} {name}                   a catalog's id
    connectors/{account} {name}                 a connector's id
    namespaces/{account}/{parent} {name}        a namespace's id; parent: namespace or catalog
    tables/{account}/{namespace} {name}         a table's id
    views/{account}/{namespace} {name}          a view's id
    guard/{account}/{parent} {slice}            written by whoever adds a child
    guard/{account}/{catalog} moves             written by whoever moves a namespace
    snapshot/{account}/{table} {snapshot}       a snapshot, by the upstream's id
    timeline/{account}/{table} {time}/{snapshot}   a snapshot's id, by upstream time
    constraints/{account}/{table} {time}/{snapshot}
    final/{account}/{table} {snapshot}          present once the snapshot's capture is published
    overlay/{account}/{table} {snapshot}/{what}   what clients wrote over a snapshot's capture
    mirrors/{account}/{connector} {kind}/{relation}   the id of what mirrors an upstream's relation
    sweep/{slice} {account}/{kind}/{id}         what is deleted for everyone, but not yet swept
    idempotency/{account}/{request type} {key}
    garbage {blob}                              since when no record has named a blob

Ids come before names in partitions, and names are whole sort keys, so no name can be mistaken for
a part of another key.
"""

import hashlib
from collections.abc import Iterable
from functools import lru_cache, partial
from itertools import repeat
from typing import Final

from floecat.catalog.kinds import KIND_NAMES, Kind
from floecat.storage.kv.port import Key

GUARD_SLICES: Final = 16
SWEEP_SLICES: Final = 4

ACCOUNTS: Final = "accounts"
DEFAULT_ACCOUNT: Final = Key("default", "account")
GARBAGE: Final = "garbage"

STATISTICS: Final = "statistics"
ARTIFACTS: Final = "artifacts"
OVERLAYS: Final = (STATISTICS, ARTIFACTS)


def _slice(text: str, slices: int) -> int:
    return hashlib.blake2b(text.encode(), digest_size=2).digest()[0] % slices


def resource(account: str, kind: Kind, resource_id: str) -> Key:
    """A resource by id."""
    return Key(f"resource/{account}", f"{KIND_NAMES[kind]}/{resource_id}")


def resources(account: str, kind: Kind, ids: Iterable[str]) -> list[Key]:
    """Several resources of one kind, by id."""
    partition, prefix = f"resource/{account}", f"{KIND_NAMES[kind]}/"
    # Listings ask for many, and this is `Key(partition, prefix + i)` at a fraction of its cost.
    pairs = zip(repeat(partition), map(prefix.__add__, ids))
    return list(map(partial(tuple.__new__, Key), pairs))


@lru_cache(maxsize=64)
def named_resources(account: str, kind: Kind, names: tuple[bytes, ...]) -> list[Key]:
    """The same for what a page of names leads to: ids as they lie in the name entries.

    Made once for a page that is asked for again, since it costs more than reading the page does.
    """
    return resources(account, kind, map(bytes.decode, names))


def catalogs(account: str) -> str:
    """The partition of an account's catalogs, by name."""
    return f"catalogs/{account}"


def connectors(account: str) -> str:
    """The partition of an account's connectors, by name."""
    return f"connectors/{account}"


def namespaces(account: str, parent_id: str) -> str:
    """The partition of the namespaces below a catalog or namespace, by name."""
    return f"namespaces/{account}/{parent_id}"


def tables(account: str, namespace_id: str) -> str:
    """The partition of a namespace's tables, by name."""
    return f"tables/{account}/{namespace_id}"


def views(account: str, namespace_id: str) -> str:
    """The partition of a namespace's views, by name."""
    return f"views/{account}/{namespace_id}"


def guards(account: str, parent_id: str) -> list[Key]:
    """Every guard of a parent, the one of moves last."""
    slices = [Key(f"guard/{account}/{parent_id}", f"{n:02}") for n in range(GUARD_SLICES)]
    return [*slices, moves(account, parent_id)]


def guard(account: str, parent_id: str, child_id: str) -> Key:
    """The guard that adding this child writes."""
    return guards(account, parent_id)[_slice(child_id, GUARD_SLICES)]


def moves(account: str, catalog_id: str) -> Key:
    """Written by every move of a namespace in the catalog, so that two can't form a ring."""
    return Key(f"guard/{account}/{catalog_id}", "moves")


def snapshot(account: str, table_id: str, snapshot_id: int) -> Key:
    """A snapshot by the upstream's id."""
    return Key(f"snapshot/{account}/{table_id}", str(snapshot_id))


def timeline(account: str, table_id: str) -> str:
    """The partition of a table's snapshots, by upstream time."""
    return f"timeline/{account}/{table_id}"


def constraints(account: str, table_id: str) -> str:
    """The partition of a table's constraint bundles, by the snapshots' upstream time."""
    return f"constraints/{account}/{table_id}"


def moment(nanoseconds: int) -> str:
    """A time as text that sorts as the time does, years before 1970 included."""
    return f"{nanoseconds + 10**20:021}"


def at_moment(nanoseconds: int, snapshot_id: int) -> str:
    """The sort key of a snapshot on a timeline; of several at one moment the largest id is last."""
    return f"{moment(nanoseconds)}/{snapshot_id + 2**63:020}"


def snapshot_at(sort: str) -> int:
    """The snapshot that a sort key on a timeline speaks of."""
    return int(sort.partition("/")[2]) - 2**63


def final(account: str, table_id: str, snapshot_id: int) -> Key:
    """Present once a snapshot's capture is published."""
    return Key(finals(account, table_id), str(snapshot_id))


def finals(account: str, table_id: str) -> str:
    """The partition of a table's published captures."""
    return f"final/{account}/{table_id}"


def overlay(account: str, table_id: str, snapshot_id: int, what: str) -> Key:
    """What clients wrote about a snapshot: its statistics, or its index artifacts."""
    return Key(overlays(account, table_id), f"{snapshot_id}/{what}")


def overlays_of(account: str, table_id: str, snapshot_id: int) -> list[Key]:
    """Everything that clients wrote about a snapshot."""
    return [overlay(account, table_id, snapshot_id, what) for what in OVERLAYS]


def overlays(account: str, table_id: str) -> str:
    """The partition of what clients wrote about a table."""
    return f"overlay/{account}/{table_id}"


def mirrors(account: str, connector_id: str) -> str:
    """The partition of what mirrors a connector's relations."""
    return f"mirrors/{account}/{connector_id}"


def sweeps() -> list[str]:
    """Every partition of work left to the sweep."""
    return [f"sweep/{n:02}" for n in range(SWEEP_SLICES)]


def sweep(account: str, kind: Kind, resource_id: str) -> Key:
    """A deleted resource that the sweep has to finish."""
    partition = sweeps()[_slice(resource_id, SWEEP_SLICES)]
    return Key(partition, f"{account}/{KIND_NAMES[kind]}/{resource_id}")


def idempotency(account: str, request_type: str, key: str) -> Key:
    """The response to a mutation under an idempotency key."""
    return Key(f"idempotency/{account}/{request_type}", key)


def garbage(blob_name: str) -> Key:
    """Since when no record has named a blob."""
    return Key(GARBAGE, blob_name)
