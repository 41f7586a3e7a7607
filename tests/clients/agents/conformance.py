"""The inspector, and the official conformance suite with a list of expected failures per revision.

A failed scenario that is not on the list fails the check, and so does a passed one that is.
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
    """Run both against this process's services; `npx` runs a tool of package.json. Raises CalledProcessError."""
    _check_inspector(npx)
    _check_conformance(npx)


def _check_inspector(npx: Npx) -> None:
    brand = Brand.create(None)
    program_id = brand.program()
    with tempfile.TemporaryDirectory() as home:
        os.environ["MCP_CATALOG_PATH"] = f"{home}/mcp.json"
        address = (f"{os.environ['FINDERFEE_URL']}/mcp", "--transport", "http")

        def inspect(*words: str) -> dict[str, object]:
            output = npx("inspector", "--cli", *address, "--header", f"Authorization: Bearer {brand.api_key}", *words)
            result: dict[str, object] = json.JSONDecoder().raw_decode(output[output.index("{") :])[0]
            return result

        assert len(inspect("--method", "tools/list", "--strict")["tools"]) == 61
        argument = f"programId={program_id}"
        view = inspect("--method", "tools/call", "--tool-name", "get_program", "--tool-arg", argument)
        assert view["structuredContent"]["id"] == str(program_id), view


def _check_conformance(npx: Npx) -> None:
    from app import create_app

    app = create_app()
    with fixtures.add_fixtures(app), tempfile.TemporaryDirectory() as results:
        for revision in _REVISIONS:
            brand = Brand.create(None)  # each has its own rate limit
            server = ThreadedWSGIServer("127.0.0.1", 0, fixtures.app_with_key(app, brand.api_key), _SilentHandler)
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


class _SilentHandler(WSGIRequestHandler):
    disable_nagle_algorithm = True

    def log(self, *_: object) -> None:
        """Stay silent."""
