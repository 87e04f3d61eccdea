"""Settings: every key from file and environment, refusals, and where a value came from."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from floecat.errors import InvalidSettingsError
from floecat.settings.load import _SERVICE_LINK, DEFAULT, ENVIRONMENT, load_settings
from floecat.settings.model import Settings, TimestampPolicy, WorkerMode
from floecat.settings.options import declared_options
from floecat.settings.values import render

# Every key the requirements name, with a value that isn't its default.
REQUIRED: dict[str, str | int | bool] = {
    "kv": "dynamodb",
    "reconciler.job-store": "memory",
    "reconciler.job-store.max-attempts": 3,
    "reconciler.job-store.base-backoff-ms": 100,
    "reconciler.job-store.max-backoff-ms": 60_000,
    "reconciler.job-store.lease-ms": 45_000,
    "reconciler.job-store.reclaim-interval-ms": 2_000,
    "reconciler.job-store.ready-scan-limit": 64,
    "reconciler.worker.mode": "remote",
    "reconciler.pollEvery": "5s",
    "reconciler.max-parallelism": 0,
    "reconciler.executor.remote-default.enabled": False,
    "reconciler.executor.remote-planner.enabled": False,
    "reconciler.executor.remote-snapshot-planner.enabled": False,
    "reconciler.executor.remote-file-group.enabled": False,
    "reconciler.executor.snapshot-finalize.enabled": False,
    "reconciler.oidc.issuer": "https://issuer.example",
    "reconciler.oidc.client-id": "worker",
    "reconciler.oidc.client-secret": "hush",
    "reconciler.oidc.token-refresh-skew-seconds": 60,
    "reconciler.oidc.connect-timeout": "250ms",
    "reconciler.authorization.header": "x-token",
    "interceptor.session.header": "x-floe-session",
    "timestamp_no_tz.policy": "CONVERT_TO_SESSION_ZONE",
    "session.timezone": "Europe/Berlin",
}
OPTIONS = {declared.key: declared for declared in declared_options(Settings)}


def toml_file(folder: Path, text: str) -> Path:
    path = folder / "floecat.toml"
    path.write_text(text)
    return path


def text_of(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("prefix", ["", "floecat."])
def test_every_required_key_loads_from_the_file(tmp_path: Path, prefix: str) -> None:
    lines = [f'"{prefix}{key}" = {json.dumps(value)}' for key, value in REQUIRED.items()]
    loaded = load_settings({}, toml_file(tmp_path, "\n".join(lines)))
    for key, value in REQUIRED.items():
        assert render(key, loaded.value(OPTIONS[key])) == text_of(value)
        assert loaded.origin(key) == str(tmp_path / "floecat.toml")


def test_every_required_key_loads_from_the_environment(tmp_path: Path) -> None:
    environment = {OPTIONS[key].environment_name: text_of(value) for key, value in REQUIRED.items()}
    loaded = load_settings(environment, toml_file(tmp_path, ""))
    for key, value in REQUIRED.items():
        assert render(key, loaded.value(OPTIONS[key])) == text_of(value)
        assert loaded.origin(key) == ENVIRONMENT


def test_the_environment_name_is_the_key_in_capitals() -> None:
    assert OPTIONS["reconciler.job-store.max-attempts"].environment_name == (
        "FLOECAT_RECONCILER_JOB_STORE_MAX_ATTEMPTS"
    )
    assert OPTIONS["timestamp_no_tz.policy"].environment_name == "FLOECAT_TIMESTAMP_NO_TZ_POLICY"


def test_no_two_keys_share_an_environment_name() -> None:
    names = [declared.environment_name for declared in OPTIONS.values()]
    assert len(set(names)) == len(names)
    assert "FLOECAT_CONFIG" not in names


def test_every_default_reads_back_as_itself() -> None:
    set_by_default = {key: o for key, o in OPTIONS.items() if o.default is not None}
    environment = {o.environment_name: render(key, o.default) for key, o in set_by_default.items()}
    assert load_settings(environment).settings == Settings()


def test_values_are_typed() -> None:
    settings = load_settings(
        {
            "FLOECAT_RECONCILER_WORKER_MODE": "Remote",
            "FLOECAT_RECONCILER_JOB_STORE_LEASE_MS": "1m",
            "FLOECAT_TIMESTAMP_NO_TZ_POLICY": "convert_to_session_zone",
            "FLOECAT_BLOBS_CACHE_MAX_BYTES": "2 GiB",
        }
    ).settings
    assert settings.reconciler.worker_mode is WorkerMode.REMOTE
    assert settings.reconciler.job_store.lease == timedelta(minutes=1)
    assert settings.values.timestamp_policy is TimestampPolicy.CONVERT_TO_SESSION_ZONE
    assert settings.blobs.cache_max_bytes == 2 * 1024**3


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = toml_file(tmp_path, '"kv" = "memory"\n"blobs" = "memory"')
    loaded = load_settings({"FLOECAT_KV": "sqlite"}, file)
    assert loaded.settings.kv.backend == "sqlite"
    assert (loaded.origin("kv"), loaded.origin("blobs")) == (ENVIRONMENT, str(file))
    assert loaded.origin("data.dir") == DEFAULT


def test_the_file_is_found_by_variable_and_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = toml_file(tmp_path, '"kv" = "memory"')
    assert load_settings({"FLOECAT_CONFIG": str(file)}).settings.kv.backend == "memory"
    monkeypatch.chdir(tmp_path)
    assert load_settings({}).settings.kv.backend == "memory"


REFUSED = {
    '"reconciler.job-stor" = "durable"': "did you mean reconciler.job-store?",
    '"kv" = "mysql"': "must be one of: memory, sqlite, postgres, dynamodb",
    '"kv" = 3': "must be a string",
    '"reconciler.max-parallelism" = "two"': "must be a whole number",
    '"reconciler.max-parallelism" = true': "must be a whole number",
    '"reconciler.max-parallelism" = 1.5': "must be a whole number",
    '"reconciler.max-parallelism" = -1': "must be at least 0",
    '"reconciler.pollEvery" = 5': "a unit (ms, s, m, h, d)",
    '"reconciler.executor.remote-default.enabled" = "yes"': "must be true or false",
    '"session.timezone" = "Mars/Olympus"': "no IANA zone",
    '"session.timezone" = "../etc/passwd"': "no IANA zone",
    '"kv" = "postgres"': "needs kv.postgres.url",
    '"blobs" = "s3"': "needs blobs.s3.bucket",
    '"reconciler.job-store.base-backoff-ms" = 31000': "is larger than",
    '"kv" = "memory"\n"floecat.kv" = "sqlite"': "given twice",
    "[reconciler]\nmax-parallelism = 2": "flat and quoted",
    'reconciler.job-store = "durable"\nreconciler.job-store.max-attempts = 8': "flat and quoted",
    "kv = ": "can't be read",
    '"kv" = "memory"\n"kv" = "sqlite"': "can't be read",
    '"reconciler.max-parallelism" = ' + "9" * 5000: "can't be read",
    f'"reconciler.max-parallelism" = "{"9" * 5000}"': "is too large",
    '"server.grace" = "99999999999999999d"': "is too large",
    '"client.timeout" = "0s"': "must be at least 1ms",
    '"server.threads.unary" = 100000': "must be at most 1024",
    '"server.address" = "x"': "isn't host:port",
    '"server.address" = "a:99999"': "isn't host:port",
    '"data.dir" = ""': "must be a path",
    '"KV" = "memory"': "did you mean kv?",
}


@pytest.mark.parametrize("text", REFUSED)
def test_bad_files_are_refused_and_say_what_to_do(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidSettingsError) as refusal:
        load_settings({}, toml_file(tmp_path, text))
    assert REFUSED[text] in str(refusal.value)


def test_an_empty_value_unsets_what_can_be_unset() -> None:
    loaded = load_settings({"FLOECAT_KV_SQLITE_PATH": "", "FLOECAT_METRICS_ADDRESS": ""}).settings
    assert loaded.kv.sqlite_path is None
    assert loaded.server.metrics_address is None


def test_what_kubernetes_puts_into_the_environment_is_not_ours() -> None:
    links = {
        "FLOECAT_SERVICE_HOST": "10.0.0.1",
        "FLOECAT_SERVICE_PORT": "9100",
        "FLOECAT_SERVICE_PORT_GRPC": "9100",
        "FLOECAT_PORT": "tcp://10.0.0.1:9100",
        "FLOECAT_PORT_9100_TCP": "tcp://10.0.0.1:9100",
        "FLOECAT_PORT_9100_TCP_ADDR": "10.0.0.1",
        "FLOECAT_WORKER_SERVICE_HOST": "10.0.0.2",
    }
    assert load_settings(links).settings == Settings()
    assert [o.key for o in OPTIONS.values() if _SERVICE_LINK.match(o.environment_name)] == []


def test_a_byte_order_mark_is_no_part_of_a_key(tmp_path: Path) -> None:
    file = tmp_path / "floecat.toml"
    file.write_bytes(b"\xef\xbb\xbf" + b'"kv" = "memory"')
    assert load_settings({}, file).settings.kv.backend == "memory"


def test_a_folder_instead_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingsError, match="can't be read"):
        load_settings({}, tmp_path)


def test_what_the_unit_cannot_say_is_shown_in_another() -> None:
    name = "FLOECAT_RECONCILER_OIDC_TOKEN_REFRESH_SKEW_SECONDS"
    loaded = load_settings({name: "1500ms"})
    key = "reconciler.oidc.token-refresh-skew-seconds"
    assert render(key, loaded.value(OPTIONS[key])) == "1500ms"


def test_every_problem_is_listed_at_once() -> None:
    with pytest.raises(InvalidSettingsError) as refusal:
        load_settings(
            {"FLOECAT_KV": "x", "FLOECAT_BLOB": "memory", "FLOECAT_SESSION_TIMEZONE": "x"}
        )
    assert str(refusal.value).count("\n") == 3
    assert "did you mean FLOECAT_BLOBS?" in str(refusal.value)


def test_a_named_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingsError, match="there is no settings file"):
        load_settings({}, tmp_path / "none.toml")


def test_secrets_stay_out_of_reprs() -> None:
    environment = {
        "FLOECAT_RECONCILER_OIDC_CLIENT_SECRET": "c4nary",
        "FLOECAT_KV_POSTGRES_URL": "postgresql://u:c4nary@h/d",
    }
    assert "c4nary" not in repr(load_settings(environment))
