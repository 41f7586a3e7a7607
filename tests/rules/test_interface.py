"""`interface.tsv` lists every operation with its id and its allowed callers; a dash means no restriction.

Source: core spec, sections 4, 5, 8, 9. The id of an operation never changes, because clients are generated from it.
"""

import difflib
import re
from pathlib import Path

import pytest

_LIST = Path(__file__).with_name("interface.tsv")


def _braced_path(rule):
    """Return the path of a Flask rule as the description writes it."""

    def to_braces(match):
        head, *tail = match[1].split(":")[-1].split("_")
        return "{" + head + "".join(part.capitalize() for part in tail) + "}"

    return re.sub(r"<([^>]+)>", to_braces, rule)


def _guard_columns(guard):
    return (
        f"{guard.audience}{' (interactive)' if guard.needs_login else ''}",
        guard.scope if guard.audience in ("brand", "signed") else "-",
        str(guard.least_role) if guard.audience in ("brand", "dashboard") else "-",
        "yes" if guard.verified_email else "no",
        f"{guard.plan or '-'}{'+Active' if guard.needs_active_subscription else ''}",
        guard.bucket or "-",
    )


@pytest.fixture(scope="module")
def described_paths(app):
    return app.test_client().get("/api/openapi.json").json["paths"]


def test_list_equals_routes_and_description(app, described_paths):
    columns = ("method", "path", "operation_id", "callers", "scope", "role", "verified_email", "plan", "rate_limit")
    ids = {
        (method.upper(), path): operation["operationId"]
        for path, methods in described_paths.items()
        for method, operation in methods.items()
    }
    guards = {
        (method, _braced_path(rule.rule)): app.view_functions[rule.endpoint].operation.guard
        for rule in app.url_map.iter_rules()
        if app.view_functions[rule.endpoint].operation.is_described
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    rows = [(*address, ids.get(address, "-"), *_guard_columns(guard)) for address, guard in guards.items()]
    lines = ["\t".join(row) + "\n" for row in (columns, *sorted(rows, key=lambda row: (row[1], row[0])))]

    listed = _LIST.read_text().splitlines(keepends=True)
    drift = "".join(difflib.unified_diff(listed, lines, "tests/rules/interface.tsv", "the routes", n=0))

    assert set(ids) == set(guards)
    if drift:
        pytest.fail(f"The list differs from the routes. If the change is intended, edit the list:\n{drift}", False)


@pytest.mark.parametrize("address", ["/docs", "/llms/api.txt"])
def test_docs_page_and_manifest_match_the_description(app, address):
    client = app.test_client()
    page = client.get(address).text

    for path, methods in client.get("/api/openapi.json").json["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in page


def test_description_states_scope_role_plan_and_limit(app):
    paths = app.test_client().get("/api/openapi.json").json["paths"]
    operation = paths["/api/v1/programs/{programId}/sub-affiliate-config"]["put"]

    assert {name: value for name, value in operation.items() if name.startswith("x-")} == {
        "x-callers": "brand",
        "x-scope": "read_write",
        "x-role": "Owner",
        "x-verified-email": True,
        "x-rate-limit": "standard",
    }


def test_put_takes_an_idempotency_key_and_images_are_bodies(app):
    paths = app.test_client().get("/api/openapi.json").json["paths"]
    replacement = paths["/api/v1/programs/{programId}/sub-affiliate-config"]["put"]

    assert "Idempotency-Key" in {parameter["name"] for parameter in replacement["parameters"]}
    assert list(paths["/api/organizations/me/logo"]["post"]["requestBody"]["content"]) == [
        "application/json",
        "image/*",
    ]


@pytest.mark.parametrize(
    ("method", "path", "required"),
    [
        ("post", "/api/tracking/s2s", {"externalEventId", "affiliateSlug", "amountCents"}),
        ("post", "/api/tracking/refund", {"externalEventId"}),
        ("put", "/api/v1/programs/{programId}/sub-affiliate-config", {"enabled", "percent"}),
        ("post", "/api/v1/programs", {"name", "defaultCommissionType", "defaultCommissionValue"}),
    ],
)
def test_field_with_its_own_missing_code_is_required(app, method, path, required):
    document = app.test_client().get("/api/openapi.json").json
    schema = document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
    record = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]

    assert set(record["required"]) == required


def test_optional_response_body_is_described(app):
    paths = app.test_client().get("/api/openapi.json").json["paths"]
    link = paths["/api/v1/me/sub-affiliate/link"]["get"]
    responses = [link["responses"]["403"], paths["/api/v1/settings/attribution-params"]["patch"]["responses"]["403"]]

    assert ["content" in response for response in responses] == [False, False]
    assert {parameter["name"] for parameter in link["parameters"] if parameter["required"]} == {"programId"}
