"""The clients stored in `integrations/` match today's interface and each other."""

import re

import pytest

from integrations import generate
from integrations.generate import javascript, openapi, python


@pytest.fixture(scope="module")
def document(app):
    return app.test_client().get("/api/openapi.json").json


def test_generated_clients_are_up_to_date(document):
    assert [path.name for path in generate.find_stale(generate.build_files(document))] == [], "make sdk"


def test_clients_have_exactly_the_operations_of_a_key(document):
    callable_by_key = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if any("apiKey" in way for way in operation["security"]) and operation["x-callers"] != "integration"  # agents
    }
    files = generate.build_files(document)
    folder = generate.ROOT / "python/finderfee/generated"
    in_python = {
        name
        for path, text in files.items()
        if path.parent == folder
        for name in re.findall(r"^    def ([a-z]\w+)\(", text, re.MULTILINE)
        if not name.startswith("iterate_")
    }
    text = files[generate.ROOT / "javascript/src/generated/operations.js"]
    in_javascript = set(re.findall(r"^  ([a-z]\w+)\(", text, re.MULTILINE)) - {"constructor"}
    declared = files[generate.ROOT / "javascript/src/generated/operations.d.ts"]

    assert in_python == {python.snake_case(name) for name in callable_by_key}
    assert {name for name in in_javascript if not name.startswith("iterate")} == callable_by_key
    assert set(re.findall(r"^  ([a-z]\w+)\(", declared, re.MULTILINE)) == in_javascript


def test_javascript_exports_match_its_declarations():
    source = generate.ROOT / "javascript/src"
    exported = set(re.findall(r"\b(\w+)(?=[,\s]*[\w,\s]*\} from)", (source / "index.js").read_text()))
    declared = re.findall(r"^export declare (?:class|const|function) (\w+)", (source / "index.d.ts").read_text(), re.M)

    assert exported == set(declared) != set()


def _build_document(**changes):
    operation = {
        "operationId": "listThings",
        "summary": "List things",
        "tags": ["things"],
        "x-callers": "brand",
        "parameters": [],
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}},
    } | changes
    fields = {"from": {"type": "string"}, "kind": {"type": ["string", "null"], "enum": ["a", None]}, "any": {}}
    event = {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
    return {
        "tags": [{"name": "things", "description": 'What is "here".'}],
        "paths": {"/things": {"get": operation}},
        "webhooks": {"thing.made": {"post": event}},
        "components": {"schemas": {"Thing": {"type": "object", "properties": fields, "required": ["kind"]}}},
    }


def test_names_invalid_in_a_language_are_respelled():
    parameters = [{"name": "from", "in": "query", "schema": {"type": "integer"}, "description": "Where."}]
    interface = openapi.read_interface(_build_document(parameters=parameters))
    records, things = (python.build_files(interface)[name] for name in ("records.py", "things.py"))

    assert '"from": "NotRequired[str]"' in records
    assert r'"kind": "Literal[\"a\"] | None"' in records
    assert "from_: int | None = None" in things
    assert '{"from": from_}' in things
    assert 'kind: "a" | null;' in javascript.build_files(interface)["records.d.ts"]
    for name, text in python.build_files(interface).items():
        compile(text, name, "exec")


def test_uncallable_operation_generates_no_client():
    header = [{"name": "X-Mood", "in": "header", "schema": {"type": "string"}}]
    with pytest.raises(ValueError, match="X-Mood"):
        openapi.read_interface(_build_document(parameters=header))

    responses = {status: {"content": {"text/plain": {"schema": {"type": kind}}}} for status, kind in _TWO_KINDS}
    with pytest.raises(ValueError, match="GET /things"):
        openapi.read_interface(_build_document(responses=responses))


_TWO_KINDS = (("200", "string"), ("202", "integer"))
