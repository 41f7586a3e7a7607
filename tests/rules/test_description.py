"""The OpenAPI description names, explains and gives an example of everything.

If a new route or field fails these tests, the message names the file that lacks a line.
"""

import re

import jsonschema_rs
import pytest

from api.description import error_codes, openapi
from api.edge import resources
from domain.webhooks import events
from schemas import glossary, refusals

_VERBS = re.compile(
    "accept|adjust|apply|approve|archive|ban|cancel|capture|change|check|close|confirm|connect|count|"
    "create|decline|delete|deny|discard|disconnect|dismiss|dispute|export|follow|fund|get|import|"
    "invalidate|list|mark|mint|offer|open|pause|preview|put|read|reconcile|record|redeliver|refund|"
    "reject|replay|request|resend|restore|resume|retry|revoke|rotate|run|search|send|show|submit|"
    "summarize|suspend|take|test|undo|validate|void"
)


@pytest.fixture(scope="module")
def document(app):
    return app.test_client().get("/api/openapi.json").json


@pytest.fixture(scope="module")
def operations(document):
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_operation_ids_are_unique_verbs_with_nouns(operations):
    ids = [operation["operationId"] for _, operation in operations]
    verbs = {re.match("[a-z]+", id)[0] for id in ids}

    assert [id for id in ids if not re.fullmatch("[a-z]+([A-Z][a-z0-9]*)+[0-9]?", id)] == []
    assert [verb for verb in verbs if not _VERBS.fullmatch(verb)] == [], "rename the view, or add the verb above"
    assert len(set(ids)) == len(ids)


def test_every_operation_has_an_existing_group(document, operations):
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}

    assert [name for name, operation in operations if not operation["description"] or not operation["summary"]] == []
    assert [name for name, operation in operations if operation["tags"][0] not in tags] == []
    assert [name for name, about in tags.items() if not about] == [], "api/edge/resources.py"
    assert set(tags) == {resource.tag for resource in (*resources.ALL, resources.EVENTS)}


def test_every_field_has_a_sentence_and_an_example(document):
    lacking = [
        f"{record}.{name}"
        for record, schema in document["components"]["schemas"].items()
        for name, field in schema.get("properties", {}).items()
        if "$ref" not in field
        and not (field.get("description") and (_contains_records(field) or field.get("examples")))
    ]

    assert lacking == [], "schemas/glossary.txt"


def _contains_records(field):
    return "anyOf" in field or "object" in field.get("type", "") or "array" in field.get("type", "")


def test_every_parameter_has_a_sentence_and_an_example(document, operations):
    webhooks = [(name, methods["post"]) for name, methods in document["webhooks"].items()]
    lacking = [
        f"{name} {parameter['name']}"
        for name, operation in [*operations, *webhooks]
        for parameter in operation["parameters"]
        if not (parameter.get("description") and parameter["schema"].get("examples"))
    ]

    assert lacking == [], "schemas/glossary.txt"


def test_every_record_is_a_described_component(document, operations):
    inline = [
        name
        for name, operation in operations
        for schema in _list_schemas(operation)
        if "properties" in schema or "properties" in schema.get("items", {})
    ]
    records = document["components"]["schemas"]

    assert inline == []
    assert [name for name, record in records.items() if not record.get("description")] == []
    assert [name for name, record in records.items() for field in _list_fields(record) if "properties" in field] == []


def _list_schemas(operation):
    answers = [answer for answer in operation["responses"].values() if "content" in answer]
    for part in [operation.get("requestBody", {"content": {}}), *answers]:
        for content in part["content"].values():
            yield content.get("schema", {})


def _list_fields(record):
    for field in record.get("properties", {}).values():
        yield from (field, field.get("items", {}))


def test_schemas_have_no_const_and_no_null_default(document):
    assert list(_find_parts_with(document, "const")) == []
    assert [part for part in _find_parts_with(document, "default") if part["default"] in (None, "")] == []


def _find_parts_with(part, key):
    if isinstance(part, dict):
        if key in part and ("type" in part or "enum" in part):
            yield part
        for inner in part.values():
            yield from _find_parts_with(inner, key)
    elif isinstance(part, list):
        for inner in part:
            yield from _find_parts_with(inner, key)


def test_every_example_matches_its_schema(document, operations):
    cases = list(_list_examples(document, operations))
    whole = {"prefixItems": [schema for _, schema, _ in cases], "components": document["components"]}
    errors = jsonschema_rs.validator_for(whole, validate_formats=True).iter_errors([value for _, _, value in cases])

    assert len(cases) > 1_000
    assert [f"{cases[error.instance_path[0]][0]}: {error.message}" for error in errors] == []


def _list_examples(document, operations):
    """Yield the place, the schema and the value of each example."""
    webhooks = [(name, methods["post"]) for name, methods in document["webhooks"].items()]
    for name, operation in [*operations, *webhooks]:
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for kind in ("application/json", "application/problem+json"):
                content = part.get("content", {}).get(kind, {})
                if "example" in content:
                    yield name, content["schema"], content["example"]
    for record, schema in document["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            for example in field.get("examples", []):
                yield f"{record}.{name}", field, example


def test_every_body_has_an_example(document, operations):
    """Pages, scripts and files need none: their content says nothing about the interface."""
    contents = [*_list_contents(operations), *_list_component_contents(document)]
    lacking = [f"{name} {kind}" for name, kind, content in contents if "example" not in content]
    needless = ("text/html", "text/javascript", "image/", "application/octet-stream")

    assert len(contents) > 800
    assert [content for content in lacking if not content.rpartition(" ")[2].startswith(needless)] == []


def test_error_examples_have_declared_codes(operations):
    for name, operation in operations:
        for answer in operation["responses"].values():
            if "x-codes" in answer:
                example = answer["content"]["application/json"]["example"]
                assert example["error"] in {code.replace("{gateway}", "stripe") for code in answer["x-codes"]}, name
                assert example["message"]


def _list_contents(operations):
    for name, operation in operations:
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for kind, content in part.get("content", {}).items():
                yield name, kind, content


def _list_component_contents(document):
    for name, answer in document["components"]["responses"].items():
        for kind, content in answer.get("content", {}).items():
            yield name, kind, content


def test_security_uses_defined_schemes(document, operations):
    schemes = document["components"]["securitySchemes"]
    ways = {operation["x-callers"]: operation["security"] for _, operation in operations}
    used = {scheme for _, operation in operations for way in operation["security"] for scheme in way}

    assert used == set(schemes)
    assert [name for name, scheme in schemes.items() if not scheme["description"]] == []
    assert ways["public"] == []
    assert all("signature" in way for way in ways["signed"])
    assert {callers for callers, alternatives in ways.items() if not alternatives} == {"public"}


def test_glossary_has_no_unused_entry(app, document, operations):
    records = document["components"]["schemas"].items()
    used = {f"{record}.{name}" for record, schema in records for name in schema.get("properties", {})}
    used |= {
        f"{'path' if parameter['in'] == 'path' else type(_find_operation(app, operation).asks).__name__}"
        f".{parameter['name']}"
        for _, operation in operations
        for parameter in operation["parameters"]
    }
    used |= {name.rpartition(".")[2] for name in used}

    assert [name for name in glossary.entries() if name not in used] == []


def _find_operation(app, described):
    names = {openapi.camel_case(view.__name__): view.operation for view in app.view_functions.values()}
    return names[described["operationId"].removesuffix("V1")]


def test_exactly_the_error_codes_have_sentences(document, operations):
    declared = {
        code
        for _, operation in operations
        for answer in operation["responses"].values()
        for code in answer.get("x-codes", [])
    }
    all_codes = declared | {code for codes in error_codes.EDGE_CODES.values() for code in codes}
    all_codes |= set(error_codes.TOOL_CODES)

    assert all_codes == set(refusals.sentences()), "schemas/error_codes.txt"


def test_exactly_the_error_codes_have_remedies():
    assert set(refusals.sentences()) == set(refusals.remedies()), "schemas/error_remedies.txt"
    assert [code for code, remedy in refusals.remedies().items() if not re.fullmatch(r".{15,}\.", remedy)] == []


def test_description_names_server_license_and_contact(document):
    assert document["servers"] == [{"url": "http://127.0.0.1:8000", "description": "This installation."}]
    assert document["info"]["license"] == {"name": "Proprietary", "identifier": "LicenseRef-Proprietary"}
    assert document["info"]["contact"]["url"] == "http://127.0.0.1:8000"


def test_every_event_type_has_a_webhook_with_a_schema_and_a_sample(document):
    assert tuple(document["webhooks"]) == events.TYPES

    for type, methods in document["webhooks"].items():
        content = methods["post"]["requestBody"]["content"]["application/json"]
        envelope = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]

        assert content["example"]["type"] == type
        assert envelope["properties"]["type"]["enum"] == [type]
        assert envelope["required"] == ["id", "type", "createdAt", "organizationId", "data"]
        assert {parameter["name"] for parameter in methods["post"]["parameters"]} == {
            "X-Service-Signature",
            "X-Service-Timestamp",
            "X-Service-Event",
            "X-Service-Delivery-Id",
        }


def test_subscribable_event_types_are_an_enum(document):
    records = document["components"]["schemas"]

    for record in ("EndpointBody", "EndpointChanges", "WebhookEndpoint"):
        assert records[record]["properties"]["events"]["items"]["enum"] == ["*", *events.TYPES]


def test_every_rate_limit_bucket_describes_its_requests(app):
    rows = re.findall(r"\| `([a-z0-9_]+)` \| ([0-9,]+) \| (.*) \|", app.test_client().get("/llms/api.txt").text)

    assert {name for name, _, _ in rows} == set(app.extensions["limiter"]._items)
    assert [name for name, _, counts in rows if not counts.strip()] == [], "api/description/guide.py"
