"""`flask up` prepares in a process that ends, starts what has work, and greets once somebody answers."""

import importlib
import os
import socket
import sys
from contextlib import closing

import click
import pytest

from commands.service import up
from tests.support.settings_overrides import build_settings

# Something that no test and nothing of ours imports.
_ONLY_THERE = "tabnanny"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_it_greets_when_the_address_answers(app, capsys, address):
    with closing(socket.create_server((address, 0))) as server:
        up._greet_when_listening(
            build_settings(web={"bind": address, "port": server.getsockname()[1]}).web, "Good morning"
        )

    assert capsys.readouterr().out == "Good morning\n"


def test_it_greets_when_the_socket_answers(app, capsys, tmp_path):
    path = str(tmp_path / "web.sock")
    with closing(socket.create_server(path, family=socket.AF_UNIX)):
        up._greet_when_listening(build_settings(web={"bind": f"unix:{path}", "port": 1}).web, "Good morning")

    assert capsys.readouterr().out == "Good morning\n"


def test_what_it_prepares_is_loaded_in_a_process_that_ends():
    prepared = up._run_in_child(_prepare, "Good morning")

    assert prepared.greeting == "Good morning"
    assert prepared.environment["PREPARED_BY"] != str(os.getpid())
    assert _ONLY_THERE not in sys.modules


def test_what_fails_there_fails_here():
    with pytest.raises(click.ClickException, match="no database"):
        up._run_in_child(_fail, "Good morning")


@pytest.mark.parametrize(
    ("chosen", "needless"),
    [
        ({"servers": {"database_url": None}, "copilot": {"url": None}}, ["copilot"]),
        ({"servers": {"database_url": "postgresql://ours"}, "copilot": {"url": None}}, ["demo", "copilot"]),
        ({"servers": {"database_url": None}, "copilot": {"url": "https://models.example.com/v1"}}, []),
    ],
)
def test_programs_with_nothing_to_do_are_not_started(chosen, needless):
    assert list(up._list_idle_programs(build_settings(**chosen))) == needless


def _prepare(greeting):
    importlib.import_module(_ONLY_THERE)
    return up._Preparation({"PREPARED_BY": str(os.getpid())}, greeting)


def _fail(_):
    raise click.ClickException("no database")
