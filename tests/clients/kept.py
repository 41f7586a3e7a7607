"""Our own clients, those of `integrations/`: installed as a user would, typed, and used against the running service.

Each is used by a brand of its own, with the workers' jobs run here meanwhile, so that its webhooks are delivered.
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
from typing import Any

_HERE = Path(__file__).parent
_BUILD = _HERE / "build"
_INTEGRATIONS = _HERE.parents[1] / "integrations"
_LONGEST_S = 120

#: Runs a command in this folder and returns what it said; raises when it fails.
Run = Callable[..., str]


def python(run: Run) -> None:
    """Install the package, check the types of its use and of every example of the description, and use it."""
    site = _BUILD / "site"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, _INTEGRATIONS / "python")
    examples = _BUILD / "examples.py"
    examples.write_text("\n".join(_typed_examples(json.loads((_BUILD / "openapi.json").read_bytes()))))
    run(sys.executable, "-m", "mypy", "--config-file", _HERE / "strict.ini", "call_finderfee.py", examples)
    _run_script(sys.executable, "call_finderfee.py", PYTHONPATH=str(site))


def javascript(node: Path, npm: Run, npx: Run) -> None:
    """Pack the package, check the types of its use, compare its records with another generator's, and use it."""
    npm("pack", _INTEGRATIONS / "javascript", "--pack-destination", "build", "--silent")
    home = _BUILD / "node_modules" / "finderfee-client"
    with tarfile.open(next(_BUILD.glob("finderfee-client-*.tgz"))) as packed:
        packed.extractall(_BUILD, filter="data")
    home.parent.mkdir()
    (_BUILD / "package").rename(home)
    # Where Node and the compiler look for packages is up from the file that asks.
    used = _BUILD / "call_finderfee.ts"
    used.write_bytes((_HERE / used.name).read_bytes())
    agreed = _BUILD / "agree.ts"
    agreed.write_text(_agreement((home / "src/generated/records.d.ts").read_text()))
    npx("openapi-typescript", "build/openapi.json", "--output", "build/theirs.ts", "--default-non-nullable", "false")
    modules = ("--target", "es2022", "--module", "nodenext", "--types", "node", "--noEmit")
    npx("tsc", "--strict", "--exactOptionalPropertyTypes", *modules, used, agreed)
    _run_script(node, used)


@contextmanager
def _surroundings() -> Iterator[Mapping[str, str]]:
    """Make a brand with an affiliate and an unsteady way to the service; give what a script is told of them."""
    from tests.clients import unsteady
    from tests.support.rows.brands import Brand

    brand = Brand.create(None)
    slug = f"kept-{brand.id.hex[:12]}"
    brand.affiliate(slug, program_id=brand.program())
    with unsteady.before(os.environ["FINDERFEE_URL"]) as way:
        yield {
            "FINDERFEE_KEY": brand.api_key,
            "FINDERFEE_SECRET": brand.signing_secret,
            "FINDERFEE_SLUG": slug,
            "FINDERFEE_WAY": way,
            "FINDERFEE_CERTIFICATE": str(Path(os.environ["WEBHOOK_CA_BUNDLE"]).parent),
        }


def _run_script(*command: str | Path, **more: str) -> None:
    """Run a script to its end, and the jobs that it causes meanwhile. Raises AssertionError with what it said."""
    from tests.support.job_queues import drain

    importlib.import_module("workers.fleet").load()
    with _surroundings() as told:
        script = subprocess.Popen(
            [str(word) for word in command],
            cwd=_HERE,
            env={**os.environ, **told, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        until = time.monotonic() + _LONGEST_S
        while script.poll() is None and time.monotonic() < until:
            drain()
            time.sleep(0.1)
        script.kill()
        said = script.communicate()[0]
    assert script.returncode == 0, said


def _typed_examples(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a module in which each example of a record is given to a variable of its type."""
    from integrations.generate import openapi

    yield "from finderfee.generated import records"
    interface = openapi.read_interface(document)
    wanted = {openapi.record_name(schema) for schema in _whole_records(interface)} | set(interface.events)
    for number, (schema, example) in enumerate(_examples(document)):
        if openapi.record_name(schema) in wanted:
            yield f"_{number}: records.{openapi.record_name(schema)} = {example!r}"


def _whole_records(interface: Any) -> Iterator[Mapping[str, Any]]:
    for group in interface.groups:
        for call in group.calls:
            yield from (schema for schema in (call.body, call.gives) if schema and "$ref" in schema)


def _examples(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    everything = [*document["paths"].values(), *document["webhooks"].values()]
    for described in (one for methods in everything for one in methods.values()):
        for part in (described.get("requestBody", {}), *described["responses"].values()):
            content = part.get("content", {}).get("application/json", {})
            if "$ref" in content.get("schema", {}) and "example" in content:
                yield content["schema"], content["example"]


def _agreement(records: str) -> str:
    """Return a module that compiles where each of our records takes what openapi-typescript's gives, both ways."""
    names = [line.split()[2] for line in records.splitlines() if line.startswith("export interface ")]
    assert len(names) > 100
    same = "".join(f'  {name}: Same<records.{name}, theirs["{name}"]>;\n' for name in names)
    held = "".join(f"  {name}: true,\n" for name in names)
    return (
        'import type { components } from "./theirs.js";\nimport type { records } from "finderfee-client";\n'
        'type theirs = components["schemas"];\n'
        "type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;\n"
        f"export const agreed: {{\n{same}}} = {{\n{held}}};\n"
    )
