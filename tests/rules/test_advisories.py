"""`make check` fails for a locked release that is older than its fix, and passes if the database cannot be reached."""

import http.server
import json
import socket
import threading

import pytest

from commands.demo.no_delay_handler import NoDelayHandler
from tests import advisories
from tests.support import locks

_FLASK = locks.read_lock(locks.DEV)["flask"].version


class _Handler(NoDelayHandler):
    def do_POST(self):
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        self.server.queries = queries
        is_flask = [query["package"] == {"ecosystem": "PyPI", "name": "flask"} for query in queries]
        results = [{"vulns": [{"id": "HOLE-1"}]} if is_hit and self.server.advisory else {} for is_hit in is_flask]
        self._respond({"results": results})

    def do_GET(self):
        assert self.path == "/v1/vulns/HOLE-1"
        self._respond(self.server.advisory)

    def _respond(self, response):
        raw = self.server.body or json.dumps(response).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@pytest.fixture
def database():
    """Run a database of advisories, empty until a test sets its `advisory` about flask."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.status, server.body, server.advisory, server.queries = 200, b"", None, []
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def _build_advisory(*fixes, name="Flask", ecosystem="PyPI"):
    events = [{"introduced": "0"}, *({"fixed": version} for version in fixes)]
    package = {"ecosystem": ecosystem, "name": name}
    return {"id": "HOLE-1", "affected": [{"package": package, "ranges": [{"type": "ECOSYSTEM", "events": events}]}]}


def test_all_locked_releases_are_queried_in_one_request(database, capsys):
    assert advisories.main(database=database.url) == 0

    queried = {(query["package"]["name"], query["version"]) for query in database.queries}
    assert queried == {(name, entry.version) for name, entry in locks.read_lock(locks.DEV).items()}
    assert capsys.readouterr().out == "Security advisories: 0 about the locked releases\n"


def test_release_older_than_its_fix_fails(database, capsys):
    database.advisory = _build_advisory("1.0", "999.1")

    assert advisories.main(database=database.url) == 1
    assert f"flask {_FLASK}: HOLE-1, fixed in 999.1\n" in capsys.readouterr().out


@pytest.mark.parametrize("fixes", [(), ("1.0",)], ids=["never", "for others"])
def test_unfixed_vulnerability_is_reported_and_passes(database, capsys, fixes):
    database.advisory = _build_advisory(*fixes)

    assert advisories.main(database=database.url) == 0
    assert f"flask {_FLASK}: HOLE-1, not fixed yet\n" in capsys.readouterr().out


@pytest.mark.parametrize("other", [{"name": "flask-other"}, {"ecosystem": "npm"}], ids=["name", "ecosystem"])
def test_fix_of_another_package_is_ignored(database, other):
    database.advisory = _build_advisory("999.1", **other)

    assert advisories.main(database=database.url) == 0


def test_withdrawn_advisory_is_ignored(database, capsys):
    database.advisory = _build_advisory("999.1") | {"withdrawn": "2026-01-01T00:00:00Z"}

    assert advisories.main(database=database.url) == 0
    assert capsys.readouterr().out == "Security advisories: 0 about the locked releases\n"


@pytest.mark.parametrize(
    ("status", "body"),
    [(403, b""), (503, b""), (200, b"<html>Log in first</html>"), (200, b"[]"), (200, b'{"results": []}')],
)
def test_invalid_database_answer_passes_with_one_line(database, capsys, status, body):
    database.status, database.body = status, body

    assert advisories.main(database=database.url) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("Security advisories: not checked (")


def test_unreachable_database_passes_with_one_line(capsys):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))

        assert advisories.main(database=f"http://127.0.0.1:{unused.getsockname()[1]}") == 0
    assert capsys.readouterr().out == "Security advisories: not checked (ConnectionError)\n"


def test_silent_database_times_out(capsys):
    before = {*threading.enumerate()}
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert advisories.main(database=f"http://127.0.0.1:{server.getsockname()[1]}", within_s=0.2) == 0
    for thread in {*threading.enumerate()} - before:
        thread.join()  # otherwise its request may reach the next server on this port
    assert capsys.readouterr().out == "Security advisories: not checked (no response within 0.2 s)\n"
