"""`floecat admin` beside a running service."""

from pathlib import Path

import pytest
from tests.support.cli import Cli

from floecat.storage.kv.port import ANY, Delete, Key
from floecat.storage.kv.sqlite import SqliteKeyValueStore

pytestmark = pytest.mark.slow  # a process for every step


def test_a_backup_of_a_running_service_is_restored_elsewhere(
    floecat: Cli, catalog: str, tmp_path: Path
) -> None:
    floecat.make(f"{catalog}.eu")
    floecat("table", "create", f"{catalog}.eu.t", "--schema", "-", stdin='"' + "x" * 90_000 + '"')
    archive = str(tmp_path / "backup.tar")
    assert floecat("admin", "backup", archive, "--json").json["blobs"] == 1
    again = floecat.run("admin", "backup", archive)
    assert (again.code, "exists already" in again.err) == (4, True)
    elsewhere = floecat.with_settings(data_dir=str(tmp_path / "restored"))
    assert elsewhere("admin", "restore", archive, "--json").json["incarnation"] == 2
    assert elsewhere("admin", "check").out == "everything fits together\n"
    refused = elsewhere.run("admin", "restore", archive)
    assert (refused.code, "--force" in refused.err) == (4, True)
    kept = elsewhere("admin", "restore", archive, "--force", "--json").json["kept"]
    assert len(kept) == 2


def test_a_store_in_use_is_not_replaced(floecat: Cli, tmp_path: Path) -> None:
    archive = str(tmp_path / "backup.tar")
    floecat("admin", "backup", archive)
    refused = floecat.run("admin", "restore", archive, "--force")
    assert (refused.code, "stop the service first" in refused.err) == (5, True)


def test_check_finds_what_does_not_fit_and_exits_with_1(floecat: Cli, tmp_path: Path) -> None:
    archive = str(tmp_path / "backup.tar")
    floecat("admin", "backup", archive)
    broken = floecat.with_settings(data_dir=str(tmp_path / "broken"))
    broken("admin", "restore", archive)
    store = SqliteKeyValueStore(tmp_path / "broken" / "floecat.db")
    store.commit([Delete(Key("accounts", "default"), ANY)])
    store.close()
    found = broken.run("admin", "check")
    assert found.code == 1
    assert "isn't found under its name 'default'" in found.out
    [finding] = broken.run("admin", "check", "--json").json
    assert set(finding) == {"partition", "sort", "problem"}


def test_garbage_is_collected_in_two_passes(floecat: Cli, catalog: str) -> None:
    floecat.make(f"{catalog}.eu")
    name = f"{catalog}.eu.t"
    floecat("table", "create", name, "--schema", "-", stdin='"' + "x" * 90_000 + '"')
    floecat("table", "delete", name)
    floecat("admin", "sweep")
    first = floecat("admin", "gc", "--json").json
    assert first["deleted"] == 0
    assert first["waiting"] >= 1
    assert floecat("admin", "gc", "--json").json["deleted"] == 0  # not for 24 h yet
    assert floecat("admin", "gc", "--grace", "0s", "--dry-run", "--json").json["deleted"] >= 1
    assert floecat("admin", "gc", "--grace", "0s", "--json").json["deleted"] >= 1
    assert floecat("admin", "check").code == 0
    assert floecat.run("admin", "gc", "--grace", "soon").code == 2


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"kv": "memory"}, "nothing to keep"),
        ({"kv": "dynamodb"}, "point-in-time recovery"),
        ({"kv": "postgres", "kv_postgres_url": "postgresql://nowhere"}, "pg_dump"),
    ],
)
def test_other_stores_say_how_they_are_backed_up(
    floecat: Cli, settings: dict[str, str], word: str
) -> None:
    refused = floecat.with_settings(**settings).run("admin", "backup", "x.tar")
    assert (refused.code, word in refused.err) == (5, True)


def test_a_store_that_is_not_there_is_not_made(floecat: Cli, tmp_path: Path) -> None:
    nowhere = floecat.with_settings(data_dir=str(tmp_path / "nowhere"))
    assert nowhere.run("admin", "check").code == 3
    assert not (tmp_path / "nowhere").exists()
