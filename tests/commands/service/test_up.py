"""`flask up` prepares in a child process, starts only the needed programs, and greets once the web server answers."""

import importlib
import os
import socket
import sys
from contextlib import closing

import click
import pytest

from commands.service import up
from tests.support.settings_overrides import build_settings

# A standard module that neither the tests nor the product import.
_UNUSED_MODULE = "tabnanny"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_greeting_is_printed_when_the_address_answers(app, capsys, address):
    with closing(socket.create_server((address, 0))) as server:
        up._greet_when_listening(
            build_settings(web={"bind": address, "port": server.getsockname()[1]}).web, "Good morning"
        )

    assert capsys.readouterr().out == "Good morning\n"


def test_greeting_is_printed_when_the_socket_answers(app, capsys, tmp_path):
    path = str(tmp_path / "web.sock")
    with closing(socket.create_server(path, family=socket.AF_UNIX)):
        up._greet_when_listening(build_settings(web={"bind": f"unix:{path}", "port": 1}).web, "Good morning")

    assert capsys.readouterr().out == "Good morning\n"


def test_preparation_is_loaded_in_a_child_process():
    preparation = up._run_in_child(_prepare, "Good morning")

    assert preparation.greeting == "Good morning"
    assert preparation.environment["PREPARED_BY"] != str(os.getpid())
    assert _UNUSED_MODULE not in sys.modules


def test_failed_preparation_raises_its_error():
    with pytest.raises(click.ClickException, match="no database"):
        up._run_in_child(_fail, "Good morning")


@pytest.mark.parametrize(
    ("sections", "idle_programs"),
    [
        ({"servers": {"database_url": None}, "copilot": {"url": None}}, ["copilot"]),
        ({"servers": {"database_url": "postgresql://ours"}, "copilot": {"url": None}}, ["demo", "copilot"]),
        ({"servers": {"database_url": None}, "copilot": {"url": "https://models.example.com/v1"}}, []),
    ],
)
def test_idle_programs_are_not_started(sections, idle_programs):
    assert list(up._list_idle_programs(build_settings(**sections))) == idle_programs


def _prepare(greeting):
    importlib.import_module(_UNUSED_MODULE)
    return up._Preparation({"PREPARED_BY": str(os.getpid())}, greeting)


def _fail(_):
    raise click.ClickException("no database")
