"""Every setting there is: key, type, default and what it does.

The reference page in `docs/` is made from this.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from floecat.settings.options import group, option


class KeyValueBackend(StrEnum):
    """Where metadata is kept."""

    MEMORY = "memory"
    SQLITE = "sqlite"
    POSTGRES = "postgres"
    DYNAMODB = "dynamodb"


class BlobBackend(StrEnum):
    """Where immutable content is kept."""

    MEMORY = "memory"
    FILESYSTEM = "filesystem"
    S3 = "s3"


class SecretsBackend(StrEnum):
    """Where secrets are kept."""

    LOCAL = "local"
    AWS = "aws"


class WorkerMode(StrEnum):
    """Where jobs run."""

    LOCAL = "local"
    REMOTE = "remote"


class CaptureEngine(StrEnum):
    """What learns of files."""

    SPARK = "spark"
    INLINE = "inline"
    NATIVE = "native"


class TimestampPolicy(StrEnum):
    """What to do with a zoned string for a TIMESTAMP without a zone."""

    REJECT = "REJECT"
    CONVERT_TO_SESSION_ZONE = "CONVERT_TO_SESSION_ZONE"


class AuthenticationMode(StrEnum):
    """How callers are known."""

    DEV = "dev"


class LogFormat(StrEnum):
    """How log lines look."""

    PRETTY = "pretty"
    JSON = "json"


class LogLevel(StrEnum):
    """From which level on lines are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The service."""

    address: str = option(
        "server.address", "localhost:9100", "Where the service listens; port 0 takes a free one."
    )
    reflection: bool = option(
        "server.reflection", True, "Whether clients may ask which services there are."
    )
    unary_threads: int | None = option(
        "server.threads.unary",
        None,
        "Threads for ordinary calls; by default few on a store in this process or a local file, "
        "many on one that has to be waited for.",
        minimum=1,
        maximum=1024,
    )
    stream_threads: int = option(
        "server.threads.streams", 16, "Threads for streams.", minimum=1, maximum=1024
    )
    unary_waiting: int = option(
        "server.waiting.unary",
        1000,
        "Ordinary calls that may wait for a thread; more are refused and told to come again.",
        minimum=0,
        maximum=1_000_000,
    )
    stream_waiting: int = option(
        "server.waiting.streams",
        100,
        "Streams that may wait for a thread; more are refused and told to come again.",
        minimum=0,
        maximum=1_000_000,
    )
    stream_idle: timedelta = option(
        "server.streams.idle",
        timedelta(seconds=60),
        "How long a client's stream may bring nothing before it is ended.",
        minimum=1,
    )
    grace: timedelta = option(
        "server.grace", timedelta(seconds=10), "How long calls may go on after a stop.", minimum=0
    )
    metrics_address: str | None = option(
        "metrics.address",
        "localhost:9101",
        "Where Prometheus finds `/metrics`; empty turns it off.",
    )
    authentication: AuthenticationMode = option(
        "auth.mode",
        AuthenticationMode.DEV,
        "`dev`: no token, the account from `x-floe-account`, on this machine only.",
    )
    log_format: LogFormat = option("log.format", LogFormat.PRETTY, "How log lines look.")
    log_level: LogLevel = option(
        "log.level", LogLevel.INFO, "From which level on lines are written."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValueSettings:
    """The key-value store."""

    backend: KeyValueBackend = option(
        "kv", KeyValueBackend.SQLITE, "Where metadata is kept: one file, or a database."
    )
    sqlite_path: Path | None = option(
        "kv.sqlite.path", None, "The SQLite file; by default `floecat.db` below `data.dir`."
    )
    postgres_url: str | None = option(
        "kv.postgres.url", None, "A PostgreSQL connection string, password included.", secret=True
    )
    dynamodb_table: str = option("kv.dynamodb.table", "floecat", "The DynamoDB table.")
    dynamodb_region: str | None = option("kv.dynamodb.region", None, "The table's AWS region.")
    dynamodb_endpoint: str | None = option(
        "kv.dynamodb.endpoint", None, "Another endpoint than the region's own."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobSettings:
    """The blob store."""

    backend: BlobBackend = option(
        "blobs", BlobBackend.FILESYSTEM, "Where plans, segments, sidecars and indexes are kept."
    )
    filesystem_path: Path | None = option(
        "blobs.filesystem.path", None, "The folder; by default `blobs` below `data.dir`."
    )
    s3_bucket: str | None = option("blobs.s3.bucket", None, "The bucket.")
    s3_prefix: str = option("blobs.s3.prefix", "", "Put in front of every object's name.")
    s3_region: str | None = option("blobs.s3.region", None, "The bucket's region.")
    s3_endpoint: str | None = option(
        "blobs.s3.endpoint", None, "The endpoint of an S3-compatible store."
    )
    shared: bool = option(
        "blobs.shared",
        False,
        "The folder is mounted at the same path wherever Spark runs tasks, so a cluster may be "
        "used with it.",
    )
    cache_max_bytes: int = option(
        "blobs.cache.max-bytes",
        4 * 1024**3,
        "How much of the blob store is kept as local files for memory-mapping.",
        minimum=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStoreSettings:
    """The reconciler's queue."""

    backend: str = option(
        "reconciler.job-store",
        "durable",
        "`durable` keeps jobs in the key-value store, `memory` forgets them at exit; installed "
        "packages may offer more.",
    )
    max_attempts: int = option(
        "reconciler.job-store.max-attempts",
        8,
        "How often a job is tried; an expired lease counts as one.",
        minimum=1,
    )
    base_backoff: timedelta = option(
        "reconciler.job-store.base-backoff-ms",
        timedelta(milliseconds=500),
        "The first wait before a retry; doubles each time, with full jitter.",
        minimum=0,
    )
    max_backoff: timedelta = option(
        "reconciler.job-store.max-backoff-ms",
        timedelta(seconds=30),
        "The longest wait before a retry. An upstream's Retry-After wins.",
        minimum=0,
    )
    lease: timedelta = option(
        "reconciler.job-store.lease-ms",
        timedelta(seconds=30),
        "How long a worker owns a job without a sign of life.",
        minimum=1000,
    )
    reclaim_interval: timedelta = option(
        "reconciler.job-store.reclaim-interval-ms",
        timedelta(seconds=5),
        "How often expired leases are looked for.",
        minimum=100,
    )
    ready_scan_limit: int = option(
        "reconciler.job-store.ready-scan-limit",
        32,
        "Rows looked at per lease call.",
        minimum=1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """Which executors run."""

    remote_default: bool = option(
        "reconciler.executor.remote-default.enabled", True, "Runs PLAN_TABLE and PLAN_VIEW."
    )
    remote_planner: bool = option(
        "reconciler.executor.remote-planner.enabled", True, "Runs PLAN_CONNECTOR."
    )
    remote_snapshot_planner: bool = option(
        "reconciler.executor.remote-snapshot-planner.enabled", True, "Runs PLAN_SNAPSHOT."
    )
    remote_file_group: bool = option(
        "reconciler.executor.remote-file-group.enabled", True, "Runs EXEC_FILE_GROUP."
    )
    snapshot_finalize: bool = option(
        "reconciler.executor.snapshot-finalize.enabled",
        True,
        "Runs FINALIZE_SNAPSHOT_CAPTURE, in the service.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSignInSettings:
    """How workers sign in to the control plane."""

    issuer: str | None = option(
        "reconciler.oidc.issuer", None, "The OIDC issuer that gives workers their tokens."
    )
    client_id: str | None = option("reconciler.oidc.client-id", None, "The workers' client id.")
    client_secret: str | None = option(
        "reconciler.oidc.client-secret", None, "The workers' client secret.", secret=True
    )
    token_refresh_skew: timedelta = option(
        "reconciler.oidc.token-refresh-skew-seconds",
        timedelta(seconds=30),
        "How long before its end a token is replaced.",
        minimum=0,
    )
    connect_timeout: timedelta = option(
        "reconciler.oidc.connect-timeout",
        timedelta(seconds=5),
        "How long to wait for the issuer.",
        minimum=1,
    )
    authorization_header: str = option(
        "reconciler.authorization.header",
        "authorization",
        "The header for workers' tokens when `interceptor.session.header` isn't set.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcilerSettings:
    """The control plane of the work, and its workers."""

    worker_mode: WorkerMode = option(
        "reconciler.worker.mode",
        WorkerMode.LOCAL,
        "`local`: the service supervises a worker of its own. `remote`: workers run elsewhere.",
    )
    worker_grace: timedelta = option(
        "reconciler.worker.grace",
        timedelta(seconds=10),
        "How long a worker's jobs may go on after a stop; then they are handed back.",
        minimum=0,
    )
    poll_every: timedelta = option(
        "reconciler.pollEvery",
        timedelta(seconds=1),
        "How often an idle worker asks for work.",
        minimum=10,
    )
    max_parallelism: int = option(
        "reconciler.max-parallelism",
        2,
        "Jobs a worker runs at the same time; 0 makes this a control plane only.",
        minimum=0,
    )
    file_group_max_files: int = option(
        "reconciler.file-group.max-files", 128, "Files in one EXEC_FILE_GROUP job.", minimum=1
    )
    file_group_max_bytes: int = option(
        "reconciler.file-group.max-bytes",
        4 * 1024**3,
        "Bytes of files in one EXEC_FILE_GROUP job.",
        minimum=1,
    )
    job_store: JobStoreSettings = group(JobStoreSettings)
    executors: ExecutorSettings = group(ExecutorSettings)
    sign_in: WorkerSignInSettings = group(WorkerSignInSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSettings:
    """The Spark that captures run on."""

    master: str = option(
        "spark.master", "local[*]", "Where tasks run: `local[*]`, `spark://…`, `yarn`, `k8s://…`."
    )
    remote: str | None = option(
        "spark.remote", None, "A Spark Connect server, `sc://…`, instead of a master."
    )
    driver_memory: str = option("spark.driver.memory", "2g", "The memory of the worker's driver.")
    conf: tuple[str, ...] = option(
        "spark.conf", (), "Further settings of Spark's own, each as `name=value`."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSettings:
    """How workers learn of files."""

    engine: CaptureEngine = option(
        "capture.engine",
        CaptureEngine.SPARK,
        "`spark`: files are read by Spark's tasks. `inline`: by the worker itself, which needs no "
        "Java. `native`: no file is read; only what the upstream's metadata says is kept.",
    )
    sketch_budget: int = option(
        "capture.sketch-budget",
        64 * 1024**3,
        "Bytes that the sketches of a table's files may take up. Beyond it they are kept of groups "
        "of files, and when some of those go, the NDV is an upper bound.",
        minimum=0,
    )
    task_memory: int = option(
        "capture.task-memory",
        2 * 1024**3,
        "Bytes that a task of Spark's may take while it reads files, besides what its process has "
        "at the start. A file that needs more fails; some hundred megabytes are usual.",
        minimum=1024**3,
    )
    spark: SparkSettings = group(SparkSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsSettings:
    """Where statistics are kept."""

    store: str = option(
        "statistics.store",
        "default",
        "`default` keeps statistics in the key-value and blob stores; installed packages may offer "
        "more.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsSettings:
    """Where connectors' credentials are kept."""

    backend: SecretsBackend = option(
        "secrets",
        SecretsBackend.LOCAL,
        "`local`: encrypted in the key-value store. `aws`: in AWS Secrets Manager.",
    )
    key_file: Path | None = option(
        "secrets.local.key-file",
        None,
        "The key that secrets are encrypted with, made at the first start; by default "
        "`secrets.key` below `data.dir`. Back it up; every service process needs the same one.",
    )
    aws_prefix: str = option("secrets.aws.prefix", "floecat", "Put in front of entries' names.")
    aws_region: str | None = option("secrets.aws.region", None, "The region of the entries.")
    aws_endpoint: str | None = option(
        "secrets.aws.endpoint", None, "Another endpoint than the region's own."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundSettings:
    """What connectors may reach."""

    private_addresses: bool = option(
        "outbound.private-addresses",
        True,
        "Whether connectors may reach private and loopback addresses. Addresses of clouds' "
        "metadata services are refused in any case.",
    )
    file_roots: tuple[Path, ...] = option(
        "outbound.file-roots", (), "Folders below which connectors may read files; none by default."
    )
    proxy: str | None = option(
        "outbound.proxy", None, "A proxy for libraries with sockets of their own."
    )
    aws_default_chain: bool = option(
        "aws.default-chain",
        False,
        "Whether a connector without AWS keys may use the server's own AWS identity.",
    )
    cli_credentials: bool = option(
        "credentials.cli",
        True,
        "Whether credentials of type `cli` may run vendors' command-line tools on the server.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSettings:
    """How values are read."""

    timestamp_policy: TimestampPolicy = option(
        "timestamp_no_tz.policy",
        TimestampPolicy.REJECT,
        "What to do with a zoned string for a TIMESTAMP without a zone.",
    )
    session_timezone: str = option(
        "session.timezone", "UTC", "The IANA zone that CONVERT_TO_SESSION_ZONE converts to."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """How the command line reaches the service."""

    server: str = option("client.server", "localhost:9100", "The service to talk to.")
    account: str | None = option(
        "client.account", None, "The account to work in, by id or name, in dev mode."
    )
    timeout: timedelta = option(
        "client.timeout", timedelta(seconds=30), "How long a call may take.", minimum=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings."""

    data_dir: Path = option(
        "data.dir", Path("floecat-data"), "Where an embedded installation keeps its files."
    )
    session_header: str | None = option(
        "interceptor.session.header",
        None,
        "A header that carries the session token instead of `authorization`.",
    )
    client: ClientSettings = group(ClientSettings)
    server: ServerSettings = group(ServerSettings)
    kv: KeyValueSettings = group(KeyValueSettings)
    blobs: BlobSettings = group(BlobSettings)
    reconciler: ReconcilerSettings = group(ReconcilerSettings)
    capture: CaptureSettings = group(CaptureSettings)
    statistics: StatisticsSettings = group(StatisticsSettings)
    secrets: SecretsSettings = group(SecretsSettings)
    outbound: OutboundSettings = group(OutboundSettings)
    values: ValueSettings = group(ValueSettings)
