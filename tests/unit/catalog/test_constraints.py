"""Constraints: the eight RPCs' semantics on a bundle."""

import pytest
from tests.support.catalog import World

from ai.floedb.floecat.catalog import constraints_pb2, snapshot_pb2
from ai.floedb.floecat.catalog.constraints_pb2 import (
    CT_CHECK,
    CT_FOREIGN_KEY,
    FKMO_UNSPECIFIED,
    FKR_CASCADE,
    FKR_UNSPECIFIED,
    ConstraintDefinition,
    TableConstraints,
)
from ai.floedb.floecat.common.common_pb2 import ResourceId, SnapshotRef
from floecat.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError

SERVICE = "TableConstraintsService"


@pytest.fixture
def table_id(world: World) -> ResourceId:
    table = world.table(world.namespace(world.catalog(), "sales"), "orders")
    for number in (1, 2):
        world.snapshot(table, number)
    return table.resource_id


def check(name: str, expression: str = "a > 0") -> ConstraintDefinition:
    return ConstraintDefinition(name=name, type=CT_CHECK, check_expression=expression)


def bundle(
    table_id: ResourceId, *constraints: ConstraintDefinition, snapshot: int = 1, **properties: str
) -> TableConstraints:
    return TableConstraints(
        table_id=table_id, snapshot_id=snapshot, constraints=constraints, properties=properties
    )


def put(world: World, given: TableConstraints) -> TableConstraints:
    request = constraints_pb2.PutTableConstraintsRequest(constraints=given)
    kept: TableConstraints = world.call(f"{SERVICE}/PutTableConstraints", request).constraints
    return kept


def get(world: World, table_id: ResourceId, snapshot: int = 1) -> TableConstraints:
    request = constraints_pb2.GetTableConstraintsRequest(
        table_id=table_id, snapshot=SnapshotRef(snapshot_id=snapshot)
    )
    kept: TableConstraints = world.call(f"{SERVICE}/GetTableConstraints", request).constraints
    return kept


def names(kept: TableConstraints) -> list[str]:
    return [constraint.name for constraint in kept.constraints]


def test_put_replaces_the_whole_bundle(world: World, table_id: ResourceId) -> None:
    put(world, bundle(table_id, check("a"), check("b"), owner="x"))
    put(world, bundle(table_id, check("c")))
    kept = get(world, table_id)
    assert (names(kept), dict(kept.properties)) == (["c"], {})


def test_a_bundle_may_be_explicitly_empty(world: World, table_id: ResourceId) -> None:
    with pytest.raises(NotFoundError):
        get(world, table_id)
    put(world, bundle(table_id))
    assert names(get(world, table_id)) == []


def test_merge_is_by_name_and_incoming_keys_win(world: World, table_id: ResourceId) -> None:
    put(world, bundle(table_id, check("a", "old"), check("b"), x="1", y="1"))
    given = bundle(table_id, check("a", "new"), check("c"), y="2", z="2")
    request = constraints_pb2.MergeTableConstraintsRequest(constraints=given)
    kept = world.call(f"{SERVICE}/MergeTableConstraints", request).constraints
    assert sorted(names(kept)) == ["a", "b", "c"]
    assert {c.name: c.check_expression for c in kept.constraints}["a"] == "new"
    assert dict(kept.properties) == {"x": "1", "y": "2", "z": "2"}
    assert get(world, table_id) == kept


def test_append_adds_all_or_none(world: World, table_id: ResourceId) -> None:
    put(world, bundle(table_id, check("a", "old")))
    clash = bundle(table_id, check("b"), check("a", "new"))
    request = constraints_pb2.AppendTableConstraintsRequest(constraints=clash)
    with pytest.raises(AlreadyExistsError, match="'a'"):
        world.call(f"{SERVICE}/AppendTableConstraints", request)
    assert names(get(world, table_id)) == ["a"]
    request = constraints_pb2.AppendTableConstraintsRequest(
        constraints=bundle(table_id, check("b"))
    )
    world.call(f"{SERVICE}/AppendTableConstraints", request)
    assert names(get(world, table_id)) == ["a", "b"]


def test_append_changes_no_property(world: World, table_id: ResourceId) -> None:
    first = bundle(table_id, check("a"))
    first.properties["source"] = "hive"
    put(world, first)
    more = bundle(table_id, check("b"))
    more.properties.update({"source": "other", "new": "1"})
    request = constraints_pb2.AppendTableConstraintsRequest(constraints=more)
    with pytest.raises(AlreadyExistsError, match="'source'"):
        world.call(f"{SERVICE}/AppendTableConstraints", request)
    assert get(world, table_id) == first
    request.constraints.properties["source"] = "hive"  # the same again is no change
    world.call(f"{SERVICE}/AppendTableConstraints", request)
    assert dict(get(world, table_id).properties) == {"source": "hive", "new": "1"}


def test_single_add_and_delete(world: World, table_id: ResourceId) -> None:
    add = constraints_pb2.AddTableConstraintRequest(
        table_id=table_id, snapshot_id=1, constraint=check("a")
    )
    world.call(f"{SERVICE}/AddTableConstraint", add)
    with pytest.raises(AlreadyExistsError):
        world.call(f"{SERVICE}/AddTableConstraint", add)
    drop = constraints_pb2.DeleteTableConstraintRequest(
        table_id=table_id, snapshot_id=1, constraint_name="a"
    )
    world.call(f"{SERVICE}/DeleteTableConstraint", drop)
    assert names(get(world, table_id)) == []
    with pytest.raises(NotFoundError, match="no constraint 'a'"):
        world.call(f"{SERVICE}/DeleteTableConstraint", drop)


def test_every_write_needs_the_snapshot(world: World, table_id: ResourceId) -> None:
    missing = bundle(table_id, check("a"), snapshot=9)
    requests = {
        "PutTableConstraints": constraints_pb2.PutTableConstraintsRequest(constraints=missing),
        "MergeTableConstraints": constraints_pb2.MergeTableConstraintsRequest(constraints=missing),
        "AppendTableConstraints": constraints_pb2.AppendTableConstraintsRequest(
            constraints=missing
        ),
        "AddTableConstraint": constraints_pb2.AddTableConstraintRequest(
            table_id=table_id, snapshot_id=9, constraint=check("a")
        ),
        "DeleteTableConstraint": constraints_pb2.DeleteTableConstraintRequest(
            table_id=table_id, snapshot_id=9, constraint_name="a"
        ),
        "DeleteTableConstraints": constraints_pb2.DeleteTableConstraintsRequest(
            table_id=table_id, snapshot_id=9
        ),
    }
    for method, request in requests.items():
        with pytest.raises(NotFoundError, match="snapshot"):
            world.call(f"{SERVICE}/{method}", request)


def test_bundles_of_all_snapshots_are_listed_newest_first(
    world: World, table_id: ResourceId
) -> None:
    for number in (1, 2):
        put(world, bundle(table_id, check(f"c{number}"), snapshot=number))
    request = constraints_pb2.ListTableConstraintsRequest(table_id=table_id)
    listed = world.call(f"{SERVICE}/ListTableConstraints", request).bundles
    assert [b.snapshot_id for b in listed] == [2, 1]


def test_they_go_with_their_snapshot(world: World, table_id: ResourceId) -> None:
    put(world, bundle(table_id, check("a")))
    request = snapshot_pb2.DeleteSnapshotRequest(table_id=table_id, snapshot_id=1)
    world.call("SnapshotService/DeleteSnapshot", request)
    listing = constraints_pb2.ListTableConstraintsRequest(table_id=table_id)
    assert list(world.call(f"{SERVICE}/ListTableConstraints", listing).bundles) == []
    assert world.findings() == []


def test_foreign_key_rules_are_stored_as_written(world: World, table_id: ResourceId) -> None:
    key = ConstraintDefinition(
        name="fk",
        type=CT_FOREIGN_KEY,
        referenced_constraint_name="pk",
        delete_rule=FKR_CASCADE,
    )
    put(world, bundle(table_id, key))
    kept = get(world, table_id).constraints[0]
    assert kept.delete_rule == FKR_CASCADE
    assert (kept.update_rule, kept.match_option) == (FKR_UNSPECIFIED, FKMO_UNSPECIFIED)


@pytest.mark.parametrize(
    "constraints",
    [
        [check("")],
        [ConstraintDefinition(name="a")],
        [check("a"), check(" a ")],
    ],
    ids=["no name", "no type", "twice"],
)
def test_bad_constraints_are_refused(
    world: World, table_id: ResourceId, constraints: list[ConstraintDefinition]
) -> None:
    with pytest.raises(InvalidArgumentError):
        put(world, bundle(table_id, *constraints))


def test_a_bundle_of_hundreds_is_kept_whole(world: World, table_id: ResourceId) -> None:
    many = [check(f"c{number}", "x" * 500) for number in range(300)]
    put(world, bundle(table_id, *many))
    assert len(get(world, table_id).constraints) == 300
