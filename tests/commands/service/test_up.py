"""`flask up` greets once somebody answers where the web server listens."""

import socket
from contextlib import closing

import pytest

from commands.service import up
from tests.support.turning import turned


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_it_greets_when_the_address_answers(app, capsys, address):
    with closing(socket.create_server((address, 0))) as server:
        up._greet_once_up(turned(web={"bind": address, "port": server.getsockname()[1]}).web, "Good morning")

    assert capsys.readouterr().out == "Good morning\n"


def test_it_greets_when_the_socket_answers(app, capsys, tmp_path):
    path = str(tmp_path / "web.sock")
    with closing(socket.create_server(path, family=socket.AF_UNIX)):
        up._greet_once_up(turned(web={"bind": f"unix:{path}", "port": 1}).web, "Good morning")

    assert capsys.readouterr().out == "Good morning\n"
