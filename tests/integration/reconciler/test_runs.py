"""Starting, joining, looking at and cancelling runs."""

import pytest
from tests.support.catalog import World, outside
from tests.support.reconciling import Reconciling, relation, table_chunk

from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey, NameRef, PageRequest, ResourceId
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.execution import capture_pb2
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.bootstrap import services
from floecat.errors import (
    AbortedError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)
from floecat.settings.load import load_settings


def test_an_identical_run_that_is_active_is_joined(plane: Reconciling) -> None:
    first = plane.start(mode=messages.METADATA_ONLY)
    assert plane.start(mode=messages.METADATA_ONLY) == first
    assert plane.start(mode=messages.METADATA_ONLY, full_rescan=True) != first
    plane.plan_connector(plane.lease().lease, [])
    plane.plan_connector(plane.lease().lease, [])
    assert plane.start(mode=messages.METADATA_ONLY) != first


def test_a_key_is_answered_with_the_same_job(plane: Reconciling) -> None:
    key = IdempotencyKey(key="nightly")
    first = plane.start(mode=messages.METADATA_ONLY, idempotency=key)
    plane.plan_connector(plane.lease().lease, [])
    assert plane.start(mode=messages.METADATA_ONLY, idempotency=key) == first
    with pytest.raises(AbortedError, match="another request"):
        plane.start(mode=messages.METADATA_ONLY, full_rescan=True, idempotency=key)


@pytest.mark.parametrize("what", ["paused", "deleted"])
def test_a_key_is_answered_whatever_holds_by_now(plane: Reconciling, what: str) -> None:
    key = IdempotencyKey(key="nightly")
    first = plane.start(mode=messages.METADATA_ONLY, idempotency=key)
    plane.plan_connector(plane.lease().lease, [])
    if what == "paused":
        pause(plane)
    else:
        request = connector_pb2.DeleteConnectorRequest(connector_id=plane.connector)
        plane.world.call("Connectors/DeleteConnector", request)
    assert plane.start(mode=messages.METADATA_ONLY, idempotency=key) == first
    with pytest.raises(AbortedError, match="another request"):
        plane.start(mode=messages.METADATA_ONLY, full_rescan=True, idempotency=key)
    with pytest.raises((FailedPreconditionError, NotFoundError)):
        plane.start(mode=messages.METADATA_ONLY)


def trigger(plane: Reconciling, key: str = "") -> ResourceId:
    """Start a run as the command line does, in the connector's own mode."""
    request = connector_pb2.StartCaptureRequest(
        connector_id=plane.connector, idempotency=IdempotencyKey(key=key) if key else None
    )
    job_id: ResourceId = plane.world.call("Connectors/StartCapture", request).job_id
    return job_id


def set_policy(plane: Reconciling, **policy: object) -> None:
    wanted = connector_pb2.ReconcilePolicy(**policy)  # type: ignore[arg-type]
    spec = connector_pb2.ConnectorSpec(policy=wanted)
    request = connector_pb2.UpdateConnectorRequest(connector_id=plane.connector, spec=spec)
    plane.world.call("Connectors/UpdateConnector", request)


def test_a_connectors_own_mode_is_that_of_the_moment_and_the_answer_stays(
    plane: Reconciling,
) -> None:
    set_policy(plane, mode=messages.METADATA_ONLY)
    first = trigger(plane, "nightly")
    assert plane.job(first).mode == messages.METADATA_ONLY
    set_policy(plane, mode=messages.CAPTURE_ONLY)
    assert trigger(plane, "nightly") == first
    again = trigger(plane)
    assert plane.job(again).mode == messages.CAPTURE_ONLY, "of every table that is mirrored"
    delete = connector_pb2.DeleteConnectorRequest(connector_id=plane.connector)
    plane.world.call("Connectors/DeleteConnector", delete)
    assert trigger(plane, "nightly") == first


@pytest.mark.parametrize(
    "selection",
    [
        messages.SnapshotSelection(latest_n=0),
        messages.SnapshotSelection(ids=messages.SnapshotIds(snapshot_ids=[1])),
    ],
)
def test_a_policy_that_could_never_run_is_refused(
    plane: Reconciling, selection: messages.SnapshotSelection
) -> None:
    with pytest.raises(InvalidArgumentError, match="snapshots"):
        set_policy(plane, snapshots=selection)


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (
            messages.CaptureScope(views=[relation("a.v")], tables=[relation("a.t")]),
            "leave the views",
        ),
        (messages.CaptureScope(), "which tables"),
    ],
)
def test_capture_only_is_about_tables_that_are_named(
    plane: Reconciling, scope: messages.CaptureScope, words: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        plane.start(mode=messages.CAPTURE_ONLY, scope=scope)


def test_capture_only_of_a_table_that_isnt_there_is_no_work(plane: Reconciling) -> None:
    scope = messages.CaptureScope(tables=[relation("sales.orders")])
    job = plane.start(mode=messages.CAPTURE_ONLY, scope=scope)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    assert plane.job(job).state == messages.RJS_SUCCEEDED
    assert not plane.has_work()


def test_capture_only_changes_no_metadata(plane: Reconciling) -> None:
    plane.mirror("sales.orders", snapshots=[1])
    scope = messages.CaptureScope(tables=[relation("sales.orders")])
    plane.start(mode=messages.CAPTURE_ONLY, scope=scope)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    chunk = table_chunk("orders", [1, 2], capture_snapshot_ids=[1])
    plane.plan_table(plane.lease().lease, chunk)
    leased = plane.lease()
    assert leased.kind == messages.PLAN_SNAPSHOT
    assert leased.target.snapshot_id == 1
    known = plane.world.stores.kv.scan(
        f"snapshot/{plane.world.account_id}/{leased.target.table_id.id}", limit=10
    )
    assert [row.key.sort for row in known] == ["1"]


def test_capture_only_leaves_alone_what_is_captured(plane: Reconciling) -> None:
    plane.mirror("sales.orders", snapshots=[1])
    scope = messages.CaptureScope(tables=[relation("sales.orders")])
    for _ in range(2):
        job = plane.start(mode=messages.CAPTURE_ONLY, scope=scope)
        plane.plan_connector(plane.lease().lease, ["sales.orders"])
        if plane.job(job).state == messages.RJS_SUCCEEDED:
            break
        plane.plan_table(plane.lease().lease, table_chunk("orders", capture_snapshot_ids=[1]))
        plane.plan_snapshot(plane.lease(), [])
        plane.finalize()
        assert plane.job(job).counters.stats_processed == 1
    counters = plane.job(job).counters
    assert (counters.jobs_total, counters.tables_scanned) == (1, 1)


@pytest.mark.parametrize(
    "selection",
    [
        messages.SnapshotSelection(latest_n=0),
        messages.SnapshotSelection(ids=messages.SnapshotIds()),
    ],
)
def test_a_selection_selects_something(
    plane: Reconciling, selection: messages.SnapshotSelection
) -> None:
    with pytest.raises(InvalidArgumentError):
        plane.start(scope=messages.CaptureScope(snapshots=selection))


def test_tables_that_dont_exist_arent_reconciled(plane: Reconciling) -> None:
    nowhere = ResourceId(account_id=plane.world.account_id, id="nowhere")
    with pytest.raises(NotFoundError):
        plane.start(scope=messages.CaptureScope(table_ids=[nowhere]))


def pause(plane: Reconciling) -> None:
    spec = connector_pb2.ConnectorSpec(state=connector_pb2.CS_PAUSED)
    request = connector_pb2.UpdateConnectorRequest(connector_id=plane.connector, spec=spec)
    plane.world.call("Connectors/UpdateConnector", request)


def test_a_paused_connector_isnt_run(plane: Reconciling) -> None:
    pause(plane)
    with pytest.raises(FailedPreconditionError, match="paused"):
        plane.start()


@pytest.mark.parametrize(
    ("executor", "mode", "scope", "refused"),
    [
        ("remote-planner", messages.METADATA_ONLY, messages.CaptureScope(), True),
        ("remote-default", messages.METADATA_ONLY, messages.CaptureScope(), True),
        ("remote-snapshot-planner", messages.METADATA_ONLY, messages.CaptureScope(), False),
        ("remote-snapshot-planner", messages.METADATA_AND_CAPTURE, messages.CaptureScope(), True),
        ("remote-file-group", messages.METADATA_AND_CAPTURE, messages.CaptureScope(), True),
        ("snapshot-finalize", messages.METADATA_AND_CAPTURE, messages.CaptureScope(), True),
        (
            "remote-file-group",
            messages.METADATA_AND_CAPTURE,
            messages.CaptureScope(views=[relation("a.v")]),
            False,
        ),
    ],
)
def test_a_run_that_nobody_would_run_is_refused(
    plane: Reconciling,
    executor: str,
    mode: "messages.CaptureMode.ValueType",
    scope: messages.CaptureScope,
    refused: bool,
) -> None:
    variable = f"FLOECAT_RECONCILER_EXECUTOR_{executor.upper().replace('-', '_')}_ENABLED"
    settings = load_settings({variable: "false"}).settings.reconciler
    stores = plane.world.stores
    plane.world.services.update(
        (service.name, handler)
        for service, handler in services(stores, outside(stores), settings).handlers.items()
    )
    if refused:
        with pytest.raises(FailedPreconditionError, match=executor):
            plane.start(mode=mode, scope=scope)
    else:
        assert plane.start(mode=mode, scope=scope).id


def test_cancelling_reaches_everything_below(plane: Reconciling) -> None:
    root = plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, [f"sales.t{number}" for number in range(30)])
    running = plane.lease()
    request = messages.CancelReconcileJobRequest(job_id=root, reason="wrong catalog")
    answer = plane.world.call("ReconcileControl/CancelReconcileJob", request)
    assert answer.job.state == messages.RJS_CANCELLED
    assert answer.job.message == "wrong catalog"
    assert not plane.has_work()
    plane.plan_table(running.lease, table_chunk("t0"))
    assert plane.job(running.lease.job_id).state == messages.RJS_CANCELLED
    listed = messages.ListReconcileJobsRequest(parent_job_id=root)
    jobs = plane.world.call("ReconcileControl/ListReconcileJobs", listed).jobs
    assert {job.state for job in jobs} == {messages.RJS_CANCELLED}
    assert len(jobs) == 30
    assert not plane.problems()


def test_lists_come_in_pages_and_can_be_narrowed(plane: Reconciling) -> None:
    root = plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, [f"sales.t{number}" for number in range(25)])
    for _ in range(5):
        plane.plan_table(plane.lease().lease, table_chunk("t"))
    seen: list[str] = []
    token = ""
    while True:
        request = messages.ListReconcileJobsRequest(
            parent_job_id=root,
            states=[messages.RJS_QUEUED],
            page=PageRequest(page_size=7, page_token=token),
        )
        answer = plane.world.call("ReconcileControl/ListReconcileJobs", request)
        assert len(answer.jobs) <= 7
        seen += [job.job_id.id for job in answer.jobs]
        token = answer.page.next_page_token
        if not token:
            break
    assert len(seen) == len(set(seen)) == 20
    roots = plane.world.call(
        "ReconcileControl/ListReconcileJobs",
        messages.ListReconcileJobsRequest(connector_id=plane.connector),
    ).jobs
    assert [job.job_id for job in roots] == [root]
    assert roots[0].counters.jobs_total == 26
    assert roots[0].counters.jobs_succeeded == 5


def test_a_tree_says_what_it_leaves_out(plane: Reconciling) -> None:
    root = plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, [f"sales.t{number}" for number in range(5)])
    plane.spread()
    request = messages.GetReconcileJobTreeRequest(job_id=root, max_children=3)
    tree = plane.world.call("ReconcileControl/GetReconcileJobTree", request).root
    assert len(tree.children) == 3
    assert tree.children_truncated
    whole = messages.GetReconcileJobTreeRequest(job_id=root)
    assert not plane.world.call(
        "ReconcileControl/GetReconcileJobTree", whole
    ).root.children_truncated


def test_old_runs_are_forgotten_as_the_account_wants(plane: Reconciling, world: World) -> None:
    settings = messages.ReconcilerSettings()
    settings.finished_retention.FromSeconds(3600)
    request = messages.UpdateReconcilerSettingsRequest(settings=settings)
    world.call("ReconcileControl/UpdateReconcilerSettings", request)
    job = plane.start(mode=messages.METADATA_ONLY)
    lease = plane.lease().lease
    plane.plan_connector(lease, [])
    assert plane.job(job).state == messages.RJS_SUCCEEDED
    world.stores.clock.advance(seconds=3700)  # type: ignore[attr-defined]
    while plane.store.expire(10):
        pass
    with pytest.raises(NotFoundError):
        plane.job(job)


def test_columns_that_are_named_are_all_that_is_captured(plane: Reconciling) -> None:
    job = plane.start(scope=messages.CaptureScope(columns=["id", "#7"]))
    policy = plane.job(job).capture_policy
    assert policy.default_scope == capture_pb2.DCS_EXPLICIT
    assert [column.selector for column in policy.columns] == ["id", "#7"]


NONSENSE = [
    (capture_pb2.CapturePolicy(default_scope=capture_pb2.DCS_FIRST_N, first_n=-1), "first_n"),
    (capture_pb2.CapturePolicy(default_scope=capture_pb2.DCS_FIRST_N), "first_n"),
    (capture_pb2.CapturePolicy(default_scope=capture_pb2.DCS_EXPLICIT), "columns"),
    (
        capture_pb2.CapturePolicy(sampling=capture_pb2.SamplingPolicy()),
        "sampling.row_group_fraction",
    ),
]
"""Policies that mean nothing, and the field to mend."""


@pytest.mark.parametrize(("policy", "field"), NONSENSE)
def test_a_run_with_a_policy_that_means_nothing_is_refused(
    plane: Reconciling, policy: capture_pb2.CapturePolicy, field: str
) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        plane.start(capture_policy=policy)
    assert refused.value.field == f"capture_policy.{field}"


@pytest.mark.parametrize(("policy", "field"), NONSENSE)
def test_a_run_that_captures_nothing_has_no_policy_to_refuse(
    plane: Reconciling, policy: capture_pb2.CapturePolicy, field: str
) -> None:
    job = plane.start(mode=messages.METADATA_ONLY, capture_policy=policy)
    assert plane.job(job).mode == messages.METADATA_ONLY, field


@pytest.mark.parametrize(
    ("policy", "field"), [(policy, field) for policy, field in NONSENSE if field != "columns"]
)
def test_settings_with_a_policy_that_means_nothing_are_refused(
    world: World, policy: capture_pb2.CapturePolicy, field: str
) -> None:
    settings = messages.ReconcilerSettings(capture_policy=policy)
    request = messages.UpdateReconcilerSettingsRequest(settings=settings)
    with pytest.raises(InvalidArgumentError) as refused:
        world.call("ReconcileControl/UpdateReconcilerSettings", request)
    assert refused.value.field == f"settings.capture_policy.{field}"


def test_columns_of_the_scope_are_named_for_the_policy(plane: Reconciling) -> None:
    policy = capture_pb2.CapturePolicy(default_scope=capture_pb2.DCS_EXPLICIT)
    job = plane.start(capture_policy=policy, scope=messages.CaptureScope(columns=["id"]))
    assert [column.selector for column in plane.job(job).capture_policy.columns] == ["id"]


def test_statistics_are_asked_of_one_snapshot(plane: Reconciling) -> None:
    plane.mirror("sales.orders", snapshots=[1, 2, 3])
    found = plane.world.call(
        "DirectoryService/ResolveTable",
        ResolveTableRequest(name=NameRef(catalog="lake", path=["sales"], name="orders")),
    )
    asked = messages.ScopedStatsRequest(table_id=found.resource_id, snapshot_id=2)
    scope = messages.CaptureScope(stats_requests=[asked])
    plane.start(mode=messages.CAPTURE_ONLY, scope=scope)
    leased = plane.lease()
    request = wire.GetLeasedPlanConnectorInputRequest(lease=leased.lease)
    given = plane.world.call("ReconcileExecutorControl/GetLeasedPlanConnectorInput", request)
    assert [source.name for source in given.scope.tables] == ["orders"]
    plane.plan_connector(leased.lease, ["sales.orders"])
    of_table = wire.GetLeasedPlanTableInputRequest(lease=plane.lease().lease)
    given = plane.world.call("ReconcileExecutorControl/GetLeasedPlanTableInput", of_table)
    assert list(given.snapshots.ids.snapshot_ids) == [2]
    assert list(given.known_snapshot_ids) == [1, 2, 3]


def test_a_connector_says_what_it_ran_last(plane: Reconciling) -> None:
    job = plane.start()
    request = connector_pb2.GetConnectorRequest(connector_id=plane.connector)
    connector = plane.world.call("Connectors/GetConnector", request).connector
    assert connector.last_job_id == job
    assert not connector.HasField("next_run_at")


def test_what_became_of_each_file_is_listed_by_path(plane: Reconciling) -> None:
    plane.start()
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    plane.plan_table(plane.lease().lease, table_chunk("orders", [1], capture_snapshot_ids=[1]))
    snapshot = plane.lease()
    files = {"g0": ["d", "a"], "g1": ["c", "b"]}
    plane.plan_snapshot(snapshot, list(files.values()))
    for _ in files:
        leased = plane.lease()
        plane.execute(leased, files[leased.target.file_group_id])
    seen: list[str] = []
    token = ""
    while True:
        request = messages.ListFileExecutionResultsRequest(
            job_id=snapshot.lease.job_id, page=PageRequest(page_size=3, page_token=token)
        )
        answer = plane.world.call("ReconcileControl/ListFileExecutionResults", request)
        seen += [result.identity.file_path for result in answer.results]
        token = answer.page.next_page_token
        if not token:
            break
    assert seen == ["a", "b", "c", "d"]
