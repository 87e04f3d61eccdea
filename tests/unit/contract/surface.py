"""The public surface as the requirements state it: services with methods, names that must exist.

Data only. A method that streams is marked `>` (client), `<` (server).
"""

PACKAGE = "ai.floedb.floecat"

SERVICES: dict[str, str] = {
    "account.AccountService": """
        ListAccounts GetAccount CreateAccount UpdateAccount DeleteAccount""",
    "catalog.CatalogService": """
        ListCatalogs GetCatalog CreateCatalog UpdateCatalog DeleteCatalog""",
    "catalog.NamespaceService": """
        ListNamespaces GetNamespace CreateNamespace UpdateNamespace DeleteNamespace""",
    "catalog.TableService": """
        ListTables GetTable CreateTable UpdateTable DeleteTable""",
    "catalog.ViewService": """
        ListViews GetView CreateView UpdateView DeleteView""",
    "catalog.SnapshotService": """
        ListSnapshots GetSnapshot CreateSnapshot DeleteSnapshot <ReadSnapshotAttachment
        >WriteSnapshotAttachment""",
    "catalog.TableStatisticsService": """
        GetTargetStats ListTargetStats >PutTargetStats""",
    "catalog.TableIndexService": """
        GetIndexArtifact ListIndexArtifacts >PutIndexArtifacts <ReadIndexArtifact""",
    "catalog.TableConstraintsService": """
        GetTableConstraints ListTableConstraints PutTableConstraints MergeTableConstraints
        AppendTableConstraints DeleteTableConstraints AddTableConstraint DeleteTableConstraint""",
    "catalog.DirectoryService": """
        ResolveCatalog ResolveNamespace ResolveTable ResolveView ResolveRelation ResolveSnapshot
        ResolveRelations LookupCatalog LookupNamespace LookupTable LookupView LookupResources""",
    "connector.Connectors": """
        ListConnectors GetConnector CreateConnector UpdateConnector DeleteConnector
        ValidateConnector StartCapture GetReconcileJob""",
    "query.QueryService": """
        BeginQuery RenewQuery EndQuery GetQuery <FetchScanBundle""",
    "query.PlannerStatsService": """
        <GetTargetStats <GetTableConstraints""",
    "query.UserObjectsService": "<GetUserObjects",
    "query.SystemObjectsService": "GetSystemObjects",
    "reconciler.ReconcileControl": """
        CaptureNow StartCapture GetReconcileJob GetReconcileJobTree ListReconcileJobs
        ListFileExecutionResults GetFinalizedSnapshotStatus CancelReconcileJob GetReconcilerSettings
        UpdateReconcilerSettings""",
    "reconciler.ReconcileExecutorControl": """
        LeaseReconcileJob StartLeasedReconcileJob RenewReconcileJobLease
        ReportReconcileJobProgress GetReconcileJobCancellation CompleteLeasedReconcileJob
        GetLeasedPlanConnectorInput >SubmitLeasedPlanConnectorResult
        GetLeasedPlanTableInput >SubmitLeasedPlanTableResult
        GetLeasedPlanViewInput >SubmitLeasedPlanViewResult
        GetLeasedPlanSnapshotInput >SubmitLeasedPlanSnapshotResult
        GetLeasedFileGroupExecution >SubmitLeasedFileGroupExecutionResult""",
}

FILES = [
    "common/common",
    "catalog/stats",
    "connector/connector",
    "query/lifecycle",
    "query/system_objects_registry",
    "query/user_objects_bundle",
    "execution/scan",
    "execution/capture",
    "reconciler/reconciler",
    "types/types",
    "account/account",
    "catalog/catalog",
    "catalog/namespace",
    "catalog/table",
    "catalog/view",
    "catalog/snapshot",
    "catalog/constraints",
    "catalog/index",
    "catalog/directory",
    "query/planner_stats",
    "reconciler/executor_control",
    "statistics/statistics",
]

# Message: fields that the requirements name (an empty list: the message itself).
FIELDS: dict[str, str] = {
    "common.ResourceId": "account_id id kind",
    "common.NameRef": "catalog path name",
    "common.SnapshotRef": "snapshot_id as_of special finalized_only",
    "common.QueryInput": "name snapshot",
    "common.PageRequest": "page_size page_token",
    "common.PageResponse": "next_page_token",
    "common.PrincipalContext": "account_id",
    "common.IdempotencyKey": "key",
    "common.Precondition": "expected_version expected_etag",
    "common.MutationMeta": "version etag",
    "common.Error": "code message",
    "catalog.CatalogSpec": "display_name properties",
    "catalog.ListNamespacesRequest": "path recursive children_only page",
    "catalog.TableSpec": """
        catalog_id namespace_id display_name schema_json upstream partition_specs""",
    "catalog.UpstreamRef": "connector_id uri namespace_path table_display_name",
    "catalog.CreateTableRequest": "spec idempotency",
    "catalog.UpdateTableRequest": "spec update_mask precondition idempotency",
    "catalog.ConstraintDefinition": """
        name columns referenced_constraint_name match_option update_rule delete_rule""",
    "catalog.TableConstraints": "table_id snapshot_id constraints properties",
    "catalog.TargetStatsRecord": "table_id snapshot_id target metadata table scalar file",
    "catalog.TableValueStats": "",
    "catalog.ScalarStats": """
        display_name logical_type min max null_count nan_count ndv sketches average_width_bytes""",
    "catalog.Ndv": "exact approx method",
    "catalog.NdvApprox": "estimate lower_bound upper_bound",
    "catalog.FileTargetStats": "columns row_count",
    "catalog.FileColumnStats": "column_id scalar",
    "catalog.IndexArtifactRecord": "table_id snapshot_id target_file state artifact coverage",
    "catalog.ListTargetStatsRequest": "target_kinds page",
    "catalog.Snapshot": "attachments manifest_list summary sequence_number schema_id",
    "statistics.StatsTarget": "table column expression file",
    "statistics.StatsEngineCapabilities": """
        connectors statistic_kinds_by_target execution_modes sampling""",
    "connector.Connector": "kind source destination auth uri properties",
    "connector.AuthConfig": "scheme credentials headers properties",
    "connector.AuthCredentials": """
        bearer client cli token_exchange token_exchange_entra token_exchange_gcp aws
        aws_assume_role aws_web_identity""",
    "query.BeginQueryRequest": "query_id inputs",
    "query.QueryDescriptor": "query_id query_status expires_at snapshot_pins expansion obligations",
    "query.FetchTargetStatsRequest": "include_constraints",
    "query.FetchTableConstraintsRequest": "",
    "query.BundleFailure": "details",
    "query.UserObjectsBundleChunk": "header resolutions end",
    "query.TableReferenceCandidate": "",
    "query.RelationResolution": "input_index status relation",
    "query.RelationInfo": "columns",
    "query.ColumnResult": "status column failure",
    "query.ColumnInfo": "",
    "query.ColumnFailure": "code extension_code_value details",
    "query.SystemObjectsRegistry": "functions operators casts collations aggregates types",
    "execution.ScanFile": """
        file_path file_size_bytes record_count file_format columns content delete_file_indexes""",
    "execution.ScanBundleChunk": "header delete_files data_files summary",
    "execution.SnapshotPlan": "groups coverage_sha256",
    "execution.FileExecutionResult": "identity state",
    "reconciler.CaptureScope": "connector_id stats_requests snapshots",
    "reconciler.StartCaptureRequest": "scope mode full_rescan execution_policy",
    "reconciler.ScopedStatsRequest": "table_id snapshot_id target_spec column_selectors",
    "reconciler.LeaseReconcileJobRequest": """
        executor_id executor_ids execution_classes execution_lanes job_kinds""",
    "reconciler.GetFinalizedSnapshotStatusResponse": "state finalized_at finalizer_job_id",
    "reconciler.ReconcileCounters": """
        file_groups_total file_groups_completed file_groups_failed files_total files_completed
        files_failed snapshots_processed stats_processed""",
    "reconciler.SubmitLeasedFileGroupExecutionResultRequest.Success": "result_id",
    "reconciler.SubmitLeasedFileGroupExecutionResultRequest.Failure": "result_id",
    "types.LogicalType": """
        temporal_precision interval_range interval_leading_precision
        interval_fractional_precision""",
}

ENUM_VALUES: dict[str, str] = {
    "common.ResourceKind": "RK_CATALOG RK_NAMESPACE RK_TABLE RK_VIEW RK_CONNECTOR",
    "common.SpecialSnapshot": "SS_CURRENT",
    "types.IntervalRange": "IR_UNSPECIFIED IR_YEAR_TO_MONTH IR_DAY_TO_SECOND",
    "query.ColumnStatus": "COLUMN_STATUS_OK COLUMN_STATUS_FAILED",
    "query.ColumnFailureCode": "COLUMN_FAILURE_CODE_ENGINE_EXTENSION",
    "query.BundleResultStatus": "BUNDLE_RESULT_STATUS_NOT_FOUND",
    "query.QueryStatus": "SUBMITTED COMPLETED FAILED ENDED_COMMIT ENDED_ABORT",
    "reconciler.FinalizedSnapshotState": "FSS_PENDING FSS_FINALIZED",
    "reconciler.CaptureMode": "METADATA_ONLY CAPTURE_ONLY METADATA_AND_CAPTURE",
    "reconciler.ReconcileJobKind": """
        PLAN_CONNECTOR PLAN_TABLE PLAN_VIEW PLAN_SNAPSHOT EXEC_FILE_GROUP
        FINALIZE_SNAPSHOT_CAPTURE""",
    "connector.ConnectorFormat": "CF_ICEBERG CF_DELTA CF_OTHER",
    "statistics.StatsTargetKind": "STK_TABLE STK_FILE STK_COLUMN STK_EXPRESSION",
    "statistics.StatisticKind": """
        SK_ROW_COUNT SK_NULL_COUNT SK_NAN_COUNT SK_MIN_MAX SK_NDV SK_QUANTILES SK_FREQUENT_ITEMS
        SK_WIDTH SK_SIZE""",
    "statistics.StatsExecutionMode": "SEM_SYNC SEM_ASYNC",
    "statistics.StatsSampling": "SMP_NONE SMP_RANDOM_ROW_GROUP SMP_METADATA_GUIDED",
    "statistics.StatsCaptureOutcome": "SCO_CAPTURED SCO_UNCAPTURABLE SCO_DEGRADED SCO_QUEUED",
    "execution.ScanFileContent": """
        SFC_DATA SFC_POSITION_DELETES SFC_EQUALITY_DELETES SFC_DELETION_VECTOR""",
    "execution.CaptureOutput": "CAO_TABLE_STATS CAO_FILE_STATS CAO_COLUMN_STATS CAO_PAGE_INDEX",
    "query.ResolutionStatus": """
        RESOLUTION_STATUS_FOUND RESOLUTION_STATUS_NOT_FOUND RESOLUTION_STATUS_ERROR""",
    "catalog.ConstraintType": "CT_PRIMARY_KEY CT_UNIQUE CT_FOREIGN_KEY CT_CHECK CT_NOT_NULL",
    "catalog.ForeignKeyMatchOption": "FKMO_NONE FKMO_FULL FKMO_PARTIAL FKMO_SIMPLE",
    "catalog.ForeignKeyRule": "FKR_NO_ACTION FKR_RESTRICT FKR_CASCADE FKR_SET_NULL FKR_SET_DEFAULT",
    "reconciler.ReconcileJobState": """
        RJS_QUEUED RJS_RUNNING RJS_WAITING RJS_CANCELLING RJS_SUCCEEDED RJS_FAILED
        RJS_CANCELLED""",
    "types.LogicalTypeKind": """
        LTK_BOOLEAN LTK_INT LTK_FLOAT LTK_DOUBLE LTK_DATE LTK_TIME LTK_TIMESTAMP LTK_TIMESTAMPTZ
        LTK_STRING LTK_BINARY LTK_UUID LTK_DECIMAL LTK_INTERVAL LTK_JSON LTK_ARRAY LTK_MAP
        LTK_STRUCT LTK_VARIANT""",
}

# Absent must differ from zero or empty.
OPTIONAL: dict[str, str] = {
    "catalog.ScalarStats": "min max null_count nan_count",
    "types.LogicalType": """
        temporal_precision interval_leading_precision interval_fractional_precision""",
    "execution.ScanFile": "record_count",
    "common.Precondition": "expected_version expected_etag",
}
