"""The web server that the tests of a module talk to by raw sockets."""

from collections.abc import Iterator

import pytest

from tests.support.installation.raw_web import WebServer, run_server


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    with run_server(tmp_path_factory.mktemp("web")) as (server, _):
        yield server
