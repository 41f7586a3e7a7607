"""The clients of `integrations/`: installed as by a user, type-checked, and used against the running service.

Each is used by its own brand while this process runs the workers' jobs, so that its webhooks are delivered.
"""

import importlib
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from integrations.generate.openapi import Interface

_HERE = Path(__file__).parent
_BUILD = _HERE / "build"
_INTEGRATIONS = _HERE.parents[1] / "integrations"
_TIMEOUT_S = 120

#: Runs a command in this folder and returns its output; raises if it fails.
Run = Callable[..., str]


def check_python(run: Run) -> None:
    """Install the package, check the types of its calls and of every example of the description, and call it."""
    site = _BUILD / "site"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, _INTEGRATIONS / "python")
    examples = _BUILD / "examples.py"
    examples.write_text("\n".join(_typed_examples(json.loads((_BUILD / "openapi.json").read_bytes()))))
    run(sys.executable, "-m", "mypy", "--config-file", _HERE / "strict.ini", "call_finderfee.py", examples)
    _run_script(sys.executable, "call_finderfee.py", PYTHONPATH=str(site))


def check_javascript(node: Path, npm: Run, npx: Run) -> None:
    """Pack the package, check the types of its calls, compare its records with another generator's, and call it."""
    npm("pack", _INTEGRATIONS / "javascript", "--pack-destination", "build", "--silent")
    home = _BUILD / "node_modules" / "finderfee-client"
    with tarfile.open(next(_BUILD.glob("finderfee-client-*.tgz"))) as archive:
        archive.extractall(_BUILD, filter="data")
    home.parent.mkdir()
    (_BUILD / "package").rename(home)
    # Node and the compiler look for packages in the folders above the importing file.
    script = _BUILD / "call_finderfee.ts"
    script.write_bytes((_HERE / script.name).read_bytes())
    comparison = _BUILD / "agree.ts"
    comparison.write_text(_build_comparison((home / "src/generated/records.d.ts").read_text()))
    npx("openapi-typescript", "build/openapi.json", "--output", "build/theirs.ts", "--default-non-nullable", "false")
    modules = ("--target", "es2022", "--module", "nodenext", "--types", "node", "--noEmit")
    npx("tsc", "--strict", "--exactOptionalPropertyTypes", *modules, script, comparison)
    _run_script(node, script)


@contextmanager
def _prepare_service() -> Iterator[Mapping[str, str]]:
    """Create a brand with an affiliate and an unreliable proxy of the service; yield a script's variables for them."""
    from tests.clients import unreliable_proxy
    from tests.support.rows.brands import Brand

    brand = Brand.create(None)
    slug = f"client-{brand.id.hex[:12]}"
    brand.affiliate(slug, program_id=brand.program())
    with unreliable_proxy.run(os.environ["FINDERFEE_URL"]) as proxy_url:
        yield {
            "FINDERFEE_KEY": brand.api_key,
            "FINDERFEE_SECRET": brand.signing_secret,
            "FINDERFEE_SLUG": slug,
            "FINDERFEE_PROXY": proxy_url,
            "FINDERFEE_CERTIFICATE": str(Path(os.environ["WEBHOOK_CA_BUNDLE"]).parent),
        }


def _run_script(*command: str | Path, **environment: str) -> None:
    """Run a script to its end, and meanwhile the jobs that it enqueues. Raises AssertionError with its output."""
    from tests.support.job_queues import drain

    importlib.import_module("workers.fleet").load()
    with _prepare_service() as variables:
        script = subprocess.Popen(
            [str(word) for word in command],
            cwd=_HERE,
            env={**os.environ, **variables, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        deadline = time.monotonic() + _TIMEOUT_S
        while script.poll() is None and time.monotonic() < deadline:
            drain()
            time.sleep(0.1)
        script.kill()
        output = script.communicate()[0]
    assert script.returncode == 0, output


def _typed_examples(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a module that assigns each example of a record to a variable of its type."""
    from integrations.generate import openapi

    yield "from finderfee.generated import records"
    interface = openapi.read_interface(document)
    records = {openapi.record_name(schema) for schema in _list_body_schemas(interface)} | set(interface.events)
    for number, (schema, example) in enumerate(_list_examples(document)):
        if openapi.record_name(schema) in records:
            yield f"_{number}: records.{openapi.record_name(schema)} = {example!r}"


def _list_body_schemas(interface: "Interface") -> Iterator[Mapping[str, Any]]:
    for group in interface.groups:
        for call in group.calls:
            yield from (schema for schema in (call.body, call.result) if schema and "$ref" in schema)


def _list_examples(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    paths = [*document["paths"].values(), *document["webhooks"].values()]
    for operation in (operation for methods in paths for operation in methods.values()):
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            content = part.get("content", {}).get("application/json", {})
            if "$ref" in content.get("schema", {}) and "example" in content:
                yield content["schema"], content["example"]


def _build_comparison(records: str) -> str:
    """Return a module that compiles only if each own record and openapi-typescript's are assignable to each other."""
    names = [line.split()[2] for line in records.splitlines() if line.startswith("export interface ")]
    assert len(names) > 100
    types = "".join(f'  {name}: Same<records.{name}, theirs["{name}"]>;\n' for name in names)
    values = "".join(f"  {name}: true,\n" for name in names)
    return (
        'import type { components } from "./theirs.js";\nimport type { records } from "finderfee-client";\n'
        'type theirs = components["schemas"];\n'
        "type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;\n"
        f"export const agreed: {{\n{types}}} = {{\n{values}}};\n"
    )
