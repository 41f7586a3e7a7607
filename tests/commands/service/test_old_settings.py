"""Warnings at start about settings under old names: log lines, and sentences on a terminal."""

import json
import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

import settings
from commands.demo import loopback
from commands.service import up

_OLD = {"JOB_SLOTS_MAIL": "2", "RETENTION_CLICKS_DAYS": "0"}
_NEW_SPELLINGS = {"JOB_SLOTS_MAIL": 'JOB_SLOTS="mail=2"', "RETENTION_CLICKS_DAYS": 'RETENTION_DAYS="clicks=0"'}
_COMMAND = (sys.executable, "-m", "flask", "--app", "app:create_app", "retention", "--help")


def _build_environ(**more):
    inherited = {name: value for name, value in os.environ.items() if name not in ("RETENTION_DAYS", "JOB_SLOTS")}
    return {**inherited, "LOG_LEVEL": "info", "LOG_FORMAT": "json", **more}


@pytest.mark.parametrize("old", [{}, _OLD])
def test_command_warns_once_per_old_name(old):
    result = subprocess.run(_COMMAND, env=_build_environ(**old), capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in result.stderr.splitlines()]

    assert [(line["event"], line["level"]) for line in lines] == [("setting.old_name", "warning")] * len(old)
    assert [line["warning"] for line in lines] == [
        f"{name} is an old name and will stop working in the next release; write {_NEW_SPELLINGS[name]}" for name in old
    ]


def test_command_on_a_terminal_warns_in_sentences():
    reader, writer = pty.openpty()
    subprocess.run(_COMMAND, env=_build_environ(**_OLD), stdout=subprocess.DEVNULL, stderr=writer, check=True)
    os.close(writer)
    lines = os.read(reader, 4096).decode().splitlines()
    os.close(reader)

    assert [line.partition(" is an old name")[0] for line in lines] == [f"finderfee: {name}" for name in _OLD]


def test_command_with_old_and_new_name_ends_with_the_reason():
    environ = _build_environ(JOB_SLOTS="4", **_OLD)
    result = subprocess.run(_COMMAND, env=environ, capture_output=True, text=True, check=False)

    assert result.returncode == 1
    assert "finderfee: JOB_SLOTS and JOB_SLOTS_MAIL, an old name, are both set; move the value" in result.stderr


@pytest.fixture
def private_machine(monkeypatch, tmp_path):
    """Set the environment of `make run` on an empty folder, with variables under old names."""
    environ = {"PATH": os.environ["PATH"], "PORT": "8123", "DATA_DIR": str(tmp_path), **_OLD}
    environ |= {"GATEWAY_PAYPAL_URL": "https://paypal.example.com"}
    monkeypatch.setattr(os, "environ", environ)
    settings.current.cache_clear()
    yield environ
    monkeypatch.undo()
    settings.current.cache_clear()


def test_up_warns_and_starts_programs_with_new_names(monkeypatch, private_machine):
    monkeypatch.setattr(up, "_run", lambda chosen, procfile, watch: 0)

    result = CliRunner().invoke(up.up, [])

    assert result.exit_code == 0, result.output
    warned = [line.partition(" is an old name")[0] for line in result.stderr.splitlines()]
    assert sorted(warned) == [
        f"finderfee: {name}" for name in ("GATEWAY_PAYPAL_URL", "JOB_SLOTS_MAIL", "RETENTION_CLICKS_DAYS")
    ]
    assert private_machine["JOB_SLOTS"] == "mail=2"
    assert private_machine["RETENTION_DAYS"] == "clicks=0"
    assert private_machine["API_ADDRESSES"] == "paypal=https://paypal.example.com"
    assert not {"JOB_SLOTS_MAIL", "RETENTION_CLICKS_DAYS", "GATEWAY_PAYPAL_URL"} & set(private_machine)


def test_demo_gateway_is_added_to_addresses_under_old_names(private_machine):
    loopback.use_simulated_gateway()

    assert private_machine["API_ADDRESSES"] == "stripe=http://127.0.0.1:8125 paypal=https://paypal.example.com"
    assert settings.current().addresses.apis["paypal"] == "https://paypal.example.com"
