"""The list of the interface, the routes, and the three descriptions say the same.

`interface.tsv` lists every address with who may call it; a dash is no rule. Source: core spec, sections 4, 5, 8, 9.
"""

import csv
import re
from pathlib import Path

import pytest

_LIST = Path(__file__).with_name("interface.tsv")
with _LIST.open(newline="") as file:
    ROWS = list(csv.DictReader(file, delimiter="\t"))


def _spelled(rule: str) -> str:
    """Return a Flask rule as the list spells it."""

    def braced(found: re.Match) -> str:
        head, *tail = found[1].split(":")[-1].split("_")
        return "{" + head + "".join(part.capitalize() for part in tail) + "}"

    return re.sub(r"<([^>]+)>", braced, rule)


def _shape(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


@pytest.fixture
def routes(app):
    return {
        (method, _shape(_spelled(rule.rule))): app.view_functions[rule.endpoint].operation.guard
        for rule in app.url_map.iter_rules()
        if app.view_functions[rule.endpoint].operation.is_described
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }


def test_the_list_and_the_routes_name_the_same_addresses(routes):
    listed = {(row["method"], _shape(row["path"])) for row in ROWS}

    assert sorted(listed - set(routes)) == []
    assert sorted(set(routes) - listed) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['method']} {row['path']}")
def test_a_route_guards_what_the_list_says(routes, row):
    guard = routes[row["method"], _shape(row["path"])]
    found = {
        "callers": f"{guard.audience}{' (interactive)' if guard.needs_login else ''}",
        "scope": guard.scope if guard.audience in ("brand", "signed") else "-",
        "role": str(guard.least_role) if guard.audience in ("brand", "dashboard") else "-",
        "verified_email": "yes" if guard.verified_email else "no",
        "plan": f"{guard.plan or '-'}{'+Active' if guard.needs_active_subscription else ''}",
        "rate_limit": guard.bucket or "-",
    }

    assert found == {name: row[name] for name in found} | _in_other_words(row)


def _in_other_words(row: dict[str, str]) -> dict[str, str]:
    """Return what the list leaves out: a Viewer never writes, and who has no email to verify needs none."""
    any_role = "Viewer" if row["method"] == "GET" else "Manager"
    said = {"role": any_role} if row["role"] == "any" else {}
    return said | ({"verified_email": "no"} if row["verified_email"] == "-" else {})


def test_the_description_names_every_address(app):
    described = {
        (method.upper(), _shape(path))
        for path, methods in app.test_client().get("/api/openapi.json").json["paths"].items()
        for method in methods
    }

    assert described == {(row["method"], _shape(row["path"])) for row in ROWS}


@pytest.mark.parametrize("address", ["/docs", "/llms/api.txt"])
def test_the_page_and_the_manifest_name_what_the_description_names(app, address):
    client = app.test_client()
    told = client.get(address).text

    for path, methods in client.get("/api/openapi.json").json["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in told


def test_the_description_tells_a_key_scope_role_plan_and_limit(app):
    paths = app.test_client().get("/api/openapi.json").json["paths"]
    told = paths["/api/v1/programs/{programId}/sub-affiliate-config"]["put"]

    assert {name: value for name, value in told.items() if name.startswith("x-")} == {
        "x-callers": "brand",
        "x-scope": "read_write",
        "x-role": "Owner",
        "x-verified-email": True,
        "x-rate-limit": "standard",
    }


def test_every_operation_has_a_summary_and_an_id_of_its_own(app):
    operations = [
        operation
        for methods in app.test_client().get("/api/openapi.json").json["paths"].values()
        for operation in methods.values()
    ]

    assert all(operation["summary"] for operation in operations)
    assert len({operation["operationId"] for operation in operations}) == len(operations)


def test_a_replacement_takes_an_idempotency_key_and_an_image_is_a_body_too(app):
    paths = app.test_client().get("/api/openapi.json").json["paths"]
    replacement = paths["/api/v1/programs/{programId}/sub-affiliate-config"]["put"]

    assert "Idempotency-Key" in {parameter["name"] for parameter in replacement["parameters"]}
    assert list(paths["/api/organizations/me/logo"]["post"]["requestBody"]["content"]) == [
        "application/json",
        "image/*",
    ]


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("post", "/api/tracking/s2s", {"externalEventId", "affiliateSlug", "amountCents"}),
        ("post", "/api/tracking/refund", {"externalEventId"}),
        ("put", "/api/v1/programs/{programId}/sub-affiliate-config", {"enabled", "percent"}),
        ("post", "/api/v1/programs", {"name", "defaultCommissionType", "defaultCommissionValue"}),
    ],
)
def test_a_field_whose_lack_has_a_code_of_its_own_is_described_as_required(app, method, path, needed):
    document = app.test_client().get("/api/openapi.json").json
    schema = document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
    record = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]

    assert set(record["required"]) == needed


def test_an_answer_that_may_have_no_body_is_described_so(app):
    paths = app.test_client().get("/api/openapi.json").json["paths"]
    link = paths["/api/v1/me/sub-affiliate/link"]["get"]
    told = [link["responses"]["403"], paths["/api/v1/settings/attribution-params"]["patch"]["responses"]["403"]]

    assert ["content" in response for response in told] == [False, False]
    assert {parameter["name"] for parameter in link["parameters"] if parameter["required"]} == {"programId"}
