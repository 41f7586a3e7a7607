"""The inspector, and the official conformance suite, with a list of what is open in each revision.

A scenario that fails and is not on the list fails this, and one on the list that passes as well.
"""

import json
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from tests.clients.agents import fixtures
from tests.support.rows.brands import Brand

_HERE = Path(__file__).parent
_REVISIONS = ("2026-07-28", "2025-11-25")

Npx = Callable[..., str]


def check(npx: Npx) -> None:
    """Run both against services of this process; `npx` runs a tool of package.json. Raises CalledProcessError."""
    _inspect(npx)
    _conform(npx)


def _inspect(npx: Npx) -> None:
    brand = Brand.create(None)
    made = brand.program()
    with tempfile.TemporaryDirectory() as home:
        os.environ["MCP_CATALOG_PATH"] = f"{home}/mcp.json"
        address = (f"{os.environ['FINDERFEE_URL']}/mcp", "--transport", "http")

        def inspected(*words: str) -> dict[str, object]:
            said = npx("inspector", "--cli", *address, "--header", f"Authorization: Bearer {brand.api_key}", *words)
            found: dict[str, object] = json.JSONDecoder().raw_decode(said[said.index("{") :])[0]
            return found

        assert len(inspected("--method", "tools/list", "--strict")["tools"]) == 61
        told = inspected("--method", "tools/call", "--tool-name", "get_program", "--tool-arg", f"programId={made}")
        assert told["structuredContent"]["id"] == str(made), told


def _conform(npx: Npx) -> None:
    from app import create_app

    app = create_app()
    with fixtures.add_fixtures(app), tempfile.TemporaryDirectory() as results:
        for revision in _REVISIONS:
            brand = Brand.create(None)  # each has a minute's requests of its own
            server = ThreadedWSGIServer("127.0.0.1", 0, fixtures.app_with_key(app, brand.api_key), _Quiet)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                npx(
                    "conformance",
                    "server",
                    "--url",
                    f"http://127.0.0.1:{server.server_port}/mcp",
                    "--requirements",
                    revision,
                    "--expected-failures",
                    str(_HERE / f"{revision}.yaml"),
                    "--output-dir",
                    results,
                )
            finally:
                server.shutdown()


class _Quiet(WSGIRequestHandler):
    disable_nagle_algorithm = True

    def log(self, *_: object) -> None:
        """Stay silent."""
