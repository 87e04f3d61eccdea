"""Who may call what, as data: an RPC needs a permission, a role has some. No entry, no call."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Permission(StrEnum):
    """Something a role may do."""

    ACCOUNT_READ = "account.read"
    ACCOUNT_WRITE = "account.write"
    CATALOG_READ = "catalog.read"
    CATALOG_WRITE = "catalog.write"
    STATISTICS_READ = "statistics.read"
    STATISTICS_WRITE = "statistics.write"
    CONNECTOR_READ = "connector.read"
    CONNECTOR_WRITE = "connector.write"
    RECONCILE_READ = "reconcile.read"
    RECONCILE_RUN = "reconcile.run"
    QUERY = "query"
    RECONCILE_WORK = "reconcile.work"
    """For workers only: lease jobs and submit their results."""


ADMINISTRATOR: Final = "administrator"
WORKER: Final = "reconcile-worker"

_READ: Final = frozenset(
    {
        Permission.ACCOUNT_READ,
        Permission.CATALOG_READ,
        Permission.STATISTICS_READ,
        Permission.QUERY,
    }
)
_OPERATE: Final = _READ | {
    Permission.CONNECTOR_READ,
    Permission.RECONCILE_READ,
    Permission.RECONCILE_RUN,
}
_DEVELOP: Final = _OPERATE | {
    Permission.CATALOG_WRITE,
    Permission.STATISTICS_WRITE,
    Permission.CONNECTOR_WRITE,
}

ROLES: Final[Mapping[str, frozenset[Permission]]] = {
    ADMINISTRATOR: _DEVELOP | {Permission.ACCOUNT_WRITE},
    "developer": _DEVELOP,
    "operator": _OPERATE,
    "reader": _READ,
    WORKER: frozenset({Permission.RECONCILE_WORK}),
}


def _service(read: Permission, reads: str, write: Permission, writes: str) -> dict[str, Permission]:
    return dict.fromkeys(reads.split(), read) | dict.fromkeys(writes.split(), write)


_PERMISSIONS: Final[Mapping[str, Mapping[str, Permission]]] = {
    "account.AccountService": _service(
        Permission.ACCOUNT_READ,
        "ListAccounts GetAccount",
        Permission.ACCOUNT_WRITE,
        "CreateAccount UpdateAccount DeleteAccount",
    ),
    "catalog.CatalogService": _service(
        Permission.CATALOG_READ,
        "ListCatalogs GetCatalog",
        Permission.CATALOG_WRITE,
        "CreateCatalog UpdateCatalog DeleteCatalog",
    ),
    "catalog.NamespaceService": _service(
        Permission.CATALOG_READ,
        "ListNamespaces GetNamespace",
        Permission.CATALOG_WRITE,
        "CreateNamespace UpdateNamespace DeleteNamespace",
    ),
    "catalog.TableService": _service(
        Permission.CATALOG_READ,
        "ListTables GetTable",
        Permission.CATALOG_WRITE,
        "CreateTable UpdateTable DeleteTable",
    ),
    "catalog.ViewService": _service(
        Permission.CATALOG_READ,
        "ListViews GetView",
        Permission.CATALOG_WRITE,
        "CreateView UpdateView DeleteView",
    ),
    "catalog.SnapshotService": _service(
        Permission.CATALOG_READ,
        "ListSnapshots GetSnapshot ReadSnapshotAttachment",
        Permission.CATALOG_WRITE,
        "CreateSnapshot DeleteSnapshot WriteSnapshotAttachment",
    ),
    "catalog.TableConstraintsService": _service(
        Permission.CATALOG_READ,
        "GetTableConstraints ListTableConstraints",
        Permission.CATALOG_WRITE,
        """PutTableConstraints MergeTableConstraints AppendTableConstraints
        DeleteTableConstraints AddTableConstraint DeleteTableConstraint""",
    ),
    "catalog.DirectoryService": _service(
        Permission.CATALOG_READ,
        """ResolveCatalog ResolveNamespace ResolveTable ResolveView ResolveRelation
        ResolveSnapshot ResolveRelations LookupCatalog LookupNamespace LookupTable LookupView
        LookupResources""",
        Permission.CATALOG_WRITE,
        "",
    ),
    "catalog.TableStatisticsService": _service(
        Permission.STATISTICS_READ,
        "GetTargetStats ListTargetStats",
        Permission.STATISTICS_WRITE,
        "PutTargetStats",
    ),
    "catalog.TableIndexService": _service(
        Permission.STATISTICS_READ,
        "GetIndexArtifact ListIndexArtifacts ReadIndexArtifact",
        Permission.STATISTICS_WRITE,
        "PutIndexArtifacts",
    ),
    "connector.Connectors": _service(
        Permission.CONNECTOR_READ,
        "ListConnectors GetConnector",
        Permission.CONNECTOR_WRITE,
        "CreateConnector UpdateConnector DeleteConnector ValidateConnector",
    )
    | _service(
        Permission.RECONCILE_READ, "GetReconcileJob", Permission.RECONCILE_RUN, "StartCapture"
    ),
    "query.QueryService": dict.fromkeys(
        ["BeginQuery", "RenewQuery", "EndQuery", "GetQuery", "FetchScanBundle"], Permission.QUERY
    ),
    "query.PlannerStatsService": dict.fromkeys(
        ["GetTargetStats", "GetTableConstraints"], Permission.QUERY
    ),
    "query.UserObjectsService": {"GetUserObjects": Permission.QUERY},
    "query.SystemObjectsService": {"GetSystemObjects": Permission.QUERY},
    "reconciler.ReconcileControl": _service(
        Permission.RECONCILE_READ,
        """GetReconcileJob GetReconcileJobTree ListReconcileJobs ListFileExecutionResults
        GetFinalizedSnapshotStatus
        GetReconcilerSettings""",
        Permission.RECONCILE_RUN,
        "CaptureNow StartCapture CancelReconcileJob UpdateReconcilerSettings",
    ),
    "reconciler.ReconcileExecutorControl": dict.fromkeys(
        [
            "LeaseReconcileJob",
            "StartLeasedReconcileJob",
            "RenewReconcileJobLease",
            "ReportReconcileJobProgress",
            "GetReconcileJobCancellation",
            "CompleteLeasedReconcileJob",
            "GetLeasedPlanConnectorInput",
            "SubmitLeasedPlanConnectorResult",
            "GetLeasedPlanTableInput",
            "SubmitLeasedPlanTableResult",
            "GetLeasedPlanViewInput",
            "SubmitLeasedPlanViewResult",
            "GetLeasedPlanSnapshotInput",
            "SubmitLeasedPlanSnapshotResult",
            "GetLeasedFileGroupExecution",
            "SubmitLeasedFileGroupExecutionResult",
        ],
        Permission.RECONCILE_WORK,
    ),
}

PACKAGE: Final = "ai.floedb.floecat"


def permission_for(service: str, method: str) -> Permission:
    """The permission an RPC needs, by its full service name. KeyError if nobody may call it."""
    return _PERMISSIONS[service.removeprefix(f"{PACKAGE}.")][method]
