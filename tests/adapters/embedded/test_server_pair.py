"""The real embedded servers: start, reuse, stop, failure and recovery."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest
import redis

from adapters.embedded import data_folder, server_pair
from tests.support.installation import servers

_ROOT = Path(__file__).parents[3]
_START = (
    "import sys; from pathlib import Path; from adapters.embedded import server_pair;"
    " print(server_pair.start(Path(sys.argv[1])))"
)


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A data folder that does not exist yet."""
    folder = tmp_path / "data folder"
    yield folder
    server_pair.stop(folder)
    assert server_pair.status(folder) == {"postgres": "stopped", "valkey": "stopped"}


def _execute(running: server_pair.EmbeddedServers, *statements: str, url: str = "") -> list[tuple[object, ...]]:
    """Run statements in one committed transaction, by default as the owner; return the rows of the last statement."""
    connection = psycopg2.connect(url or running.database_owner_url)
    try:
        with connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


def _valkey(running: server_pair.EmbeddedServers) -> "redis.Redis":
    return redis.Redis.from_url(running.redis_url, decode_responses=True)


def _postmaster_pid(data_dir: Path) -> int | None:
    return data_folder.listener_pid(data_folder.resolve(data_dir).postgres_socket)


def test_first_start_gives_both_servers_and_the_database(data_dir: Path) -> None:
    running = server_pair.start(data_dir)

    query = "SELECT current_user, current_database(), current_setting('server_version_num')::int >= 150000"
    assert _execute(running, query) == [("finderfee", "finderfee", True)]
    assert _execute(running, "SHOW fsync") == [("on",)]
    with _valkey(running) as valkey:
        assert valkey.config_get("append*")["appendonly"] == "yes"
        assert valkey.config_get("append*")["appendfsync"] == "everysec"
        assert valkey.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert server_pair.status(data_dir) == {"postgres": "running", "valkey": "running"}


_POWERS = "select session_user::text, rolsuper or rolcreatedb or rolcreaterole or rolbypassrls or rolreplication"


def test_service_role_has_no_powers_and_cannot_become_owner(used_dir: Path) -> None:
    running = server_pair.start(used_dir, durable=False)

    query = f"{_POWERS}, pg_has_role('finderfee_app', 'member') from pg_roles where rolname = session_user"
    assert _execute(running, query, url=running.database_url) == [("finderfee_login", False, True)]
    for statement in ("set role finderfee", "set session authorization finderfee", "create table mine (n int)"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            _execute(running, statement, url=running.database_url)


def test_owner_login_requires_the_password(used_dir: Path) -> None:
    running = server_pair.start(used_dir, durable=False)
    password_file = data_folder.resolve(used_dir).owner_password

    with pytest.raises(psycopg2.OperationalError, match="no password supplied"):
        _execute(running, "select 1", url=running.database_url.replace("finderfee_login@", "finderfee@"))
    with pytest.raises(psycopg2.OperationalError, match="no pg_hba"):
        _execute(running, "select 1", url=running.database_url.replace("finderfee_login@", "postgres@"))

    assert password_file.stat().st_mode & 0o777 == 0o600
    assert _execute(running, "select session_user::text") == [("finderfee",)]
    assert (
        password_file.read_text().rpartition(":")[2].strip()
        not in data_folder.resolve(used_dir).postgres_log.read_text()
    )


def test_migration_with_only_the_service_url_runs_as_owner(used_dir: Path) -> None:
    running = server_pair.start(used_dir, durable=False)
    env = {
        **os.environ,
        "DATABASE_URL": running.database_url,
        "REDIS_URL": running.redis_url,
        "DATA_DIR": str(used_dir),
    }
    env.pop("DATABASE_OWNER_URL", None)
    command = [str(Path(sys.executable).parent / "flask"), "db", "migrate", "--json"]

    result = subprocess.run(command, cwd=_ROOT, env=env, capture_output=True, text=True)

    assert result.returncode == 0, result.stderr
    assert server_pair.find_owner_url(running.database_url) == running.database_owner_url
    assert server_pair.find_owner_url("postgresql://somebody@db.example.com/finderfee") is None
    assert server_pair.find_owner_url("postgresql://finderfee_login@db.example.com/finderfee") is None


def test_libpq_variables_of_the_caller_are_ignored(used_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGPASSWORD": "mine", "PGPORT": "5433", "PGUSER": "me", "PGDATABASE": "mine"}.items():
        monkeypatch.setenv(name, value)

    running = server_pair.start(used_dir, durable=False)

    assert _execute(running, "select current_user::text, current_database()") == [("finderfee", "finderfee")]
    assert _execute(running, "select current_user::text", url=running.database_url) == [("finderfee_login",)]


@pytest.mark.parametrize("is_running", [False, True], ids=["stopped", "running"])
def test_trust_cluster_gets_roles_and_keeps_its_data(used_dir: Path, is_running: bool) -> None:
    # given: a cluster as an earlier version created it
    running = server_pair.start(used_dir, durable=False)
    folder = data_folder.resolve(used_dir)
    _execute(running, "create table earlier (word text)", "insert into earlier values ('row')")
    (folder.postgres / "pg_hba.conf").write_text("local all all trust\n")
    _execute(running, "drop role finderfee_login", "alter role finderfee password null", "select pg_reload_conf()")
    if not is_running:
        server_pair.stop(used_dir)
    folder.owner_password.unlink()

    # when
    server_pair.start(used_dir, durable=False)

    # then
    assert _execute(running, "select current_user::text", url=running.database_url) == [("finderfee_login",)]
    assert _execute(running, "select word from earlier") == [("row",)]
    with pytest.raises(psycopg2.OperationalError, match="no password supplied"):
        _execute(running, "select 1", url=running.database_url.replace("finderfee_login@", "finderfee@"))
    _execute(running, "drop table earlier")


def test_second_start_reuses_running_servers(used_dir: Path) -> None:
    first = server_pair.start(used_dir, durable=False)
    first_pid = _postmaster_pid(used_dir)

    second = server_pair.start(used_dir, durable=False)

    assert second == first
    assert _postmaster_pid(used_dir) == first_pid


def test_servers_use_private_sockets_and_their_own_session(used_dir: Path) -> None:
    running = server_pair.start(used_dir, durable=False)
    folder = data_folder.resolve(used_dir)

    assert folder.sockets.stat().st_mode & 0o777 == 0o700
    assert _execute(running, "SHOW listen_addresses") == [("",)]
    with _valkey(running) as valkey:
        assert valkey.config_get("port") == {"port": "0"}
    for path in (folder.postgres_socket, folder.valkey_socket):
        pid = data_folder.listener_pid(path)
        assert pid is not None and os.getsid(pid) != os.getsid(0)


def test_twenty_concurrent_starts_give_one_server(data_dir: Path) -> None:
    command = [sys.executable, "-c", _START.replace("1]))", "1]), durable=False)"), str(data_dir)]

    callers = [subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) for _ in range(20)]
    answers = [caller.communicate()[0] for caller in callers]

    assert [caller.returncode for caller in callers] == [0] * 20
    assert len(set(answers)) == 1
    log = data_folder.resolve(data_dir).postgres_log.read_text()
    assert log.count("starting PostgreSQL") == 1


def _mode(folder: Path) -> int:
    return folder.stat().st_mode & 0o777


def test_accessible_data_folder_is_made_private(data_dir: Path) -> None:
    server_pair.start(data_dir, postgres=False, durable=False)
    initial_mode = _mode(data_dir)
    data_dir.chmod(0o755)

    server_pair.start(data_dir, postgres=False, durable=False)

    assert (initial_mode, _mode(data_dir)) == (0o700, 0o700)


def test_folder_with_foreign_files_keeps_its_mode(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o755)
    (data_dir / "letters").mkdir()

    server_pair.start(data_dir, postgres=False, durable=False)

    assert _mode(data_dir) == 0o755
    assert _mode(data_folder.resolve(data_dir).sockets) == 0o700


def test_stop_then_start_keeps_data(used_dir: Path) -> None:
    running = server_pair.start(used_dir)
    _execute(running, "CREATE TABLE kept (word text)", "INSERT INTO kept VALUES ('row')")
    with _valkey(running) as valkey:
        valkey.set("kept", "key")

    server_pair.stop(used_dir)
    stopped = server_pair.status(used_dir)
    server_pair.start(used_dir)

    assert stopped == {"postgres": "stopped", "valkey": "stopped"}
    assert _execute(running, "SELECT word FROM kept") == [("row",)]
    with _valkey(running) as valkey:
        assert valkey.get("kept") == "key"


def test_stop_without_a_start_does_nothing(tmp_path: Path) -> None:
    server_pair.stop(tmp_path / "nothing")

    assert server_pair.status(tmp_path / "nothing") == {"postgres": "stopped", "valkey": "stopped"}
    assert not (tmp_path / "nothing").exists()


def test_only_the_requested_server_is_started(used_dir: Path) -> None:
    server_pair.start(used_dir, postgres=False, durable=False)

    assert server_pair.status(used_dir) == {"postgres": "stopped", "valkey": "running"}


def test_long_data_dir_gets_a_short_private_socket_folder(tmp_path: Path) -> None:
    long = tmp_path / ("long" * 20) / ("longer" * 10)
    folder = data_folder.resolve(long)

    try:
        running = server_pair.start(long, durable=False)

        assert _execute(running, "SELECT 1") == [(1,)]
        assert long.resolve() not in folder.sockets.parents
        assert folder.sockets.stat().st_mode & 0o777 == 0o700
        assert folder.sockets.parent.stat().st_uid == os.geteuid()
    finally:
        server_pair.stop(long)
        for socket in folder.sockets.iterdir():
            socket.unlink()
        folder.sockets.rmdir()
        folder.sockets.parent.rmdir()


def test_half_initialised_folder_is_removed(data_dir: Path) -> None:
    half = data_dir / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")

    running = server_pair.start(data_dir, valkey=False, durable=False)

    assert _execute(running, "SELECT 1") == [(1,)]
    assert not half.exists()


def test_folder_with_other_files_is_untouched_and_named_in_the_error(data_dir: Path) -> None:
    precious = data_dir / "postgres" / "precious.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("mine")

    with pytest.raises(server_pair.StartFailed, match=r"postgres holds files but no PostgreSQL(.|\n)*postgres\.log"):
        server_pair.start(data_dir, valkey=False)

    assert precious.read_text() == "mine"


def test_failed_start_reports_the_log_and_a_remedy(used_dir: Path) -> None:
    version = used_dir / "postgres" / "PG_VERSION"
    written = version.read_text()
    version.write_text("9\n")

    with pytest.raises(server_pair.StartFailed) as failure:
        server_pair.start(used_dir, valkey=False, durable=False)
    version.write_text(written)

    assert str(failure.value).startswith("PostgreSQL did not start\nLog: ")
    assert "database files are incompatible with server" in str(failure.value)
    assert "set DATABASE_URL" in str(failure.value)


def test_postgres_restart_keeps_data_and_valkey_wipe_removes_data(used_dir: Path) -> None:
    running = server_pair.start(used_dir)
    _execute(running, "CREATE TABLE recovered (word text)", "INSERT INTO recovered VALUES ('row')")
    first_pid = _postmaster_pid(used_dir)
    with _valkey(running) as valkey:
        valkey.set("lost", "key")

    servers.restart_postgres(used_dir)
    servers.stop_valkey(used_dir, save=False)
    servers.wipe_valkey(used_dir)
    server_pair.start(used_dir)

    assert _postmaster_pid(used_dir) != first_pid
    assert _execute(running, "SELECT word FROM recovered") == [("row",)]
    with _valkey(running) as valkey:
        assert valkey.get("lost") is None
