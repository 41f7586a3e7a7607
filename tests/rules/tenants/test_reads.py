"""A read with the id of another tenant's row gets the answer of an unknown id.

Of every route that test_writes.py has no call of, each id in its path and in its query in turn, beside rows of the
caller's own; and of every tool of agents. The answer for the caller's own row is another one, or the comparison would
prove nothing.
"""

import re
from uuid import uuid4

import pytest

from api.mcp.tools import catalogue
from tests.rules.tenants import full_tenants
from tests.rules.tenants.full_tenants import NO_ROWS, name_in_path, name_of_field
from tests.rules.tenants.isolation import essence, fingerprint, id_fields, without_row_security
from tests.rules.test_audit import CALLS
from tests.support.api.agents import Agent
from tests.support.api.import_requests import build_past_sale
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import REASON
from tests.support.rows.leads import SIGNED

_AUDIENCES = ("brand", "dashboard", "affiliate")
# The network shows the programs of all tenants to every affiliate.
_EVERYBODYS = "/api/me/network/"
_BODIES = {
    "POST /api/me/applications/<affiliate_id>/answers": {"answers": {}},
    "POST /api/me/deals/<deal_id>/milestones/<seq>/dispute": REASON,
    "POST /api/me/deals/<deal_id>/milestones/<seq>/submit": {"urls": ["https://ben.example/review"]},
    "POST /api/v1/copilot/conversations/<conversation_id>/messages": {"text": "Who sold most?"},
    "POST /api/v1/programs/<program_id>/install-check": {"url": "https://localhost/"},
}


@pytest.fixture(autouse=True)
def _no_row_security(tenants):
    with without_row_security():
        yield


def _routes(app):
    """Yield method, rule and operation of each route of the interface that no call of test_writes.py is of."""
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        operation = app.view_functions[rule.endpoint].operation
        if operation.guard.audience not in _AUDIENCES or rule.rule.startswith(_EVERYBODYS):
            continue
        for method in sorted(rule.methods - {"HEAD", "OPTIONS"}, key=lambda method: (method == "DELETE", method)):
            if f"{method} {rule.rule}" not in CALLS and operation.is_described:
                yield method, rule, operation


def _callers(app, tenant, audience):
    if audience == "affiliate":
        return [Partner(app, tenant.email)]
    owner = tenant.brand.person("Owner")
    return [owner] if audience == "dashboard" else [owner, tenant.brand]


def _path(rule, rows):
    """Return the path of a route. Raises KeyError for a kind of row that full_tenants.py does not make."""

    def fill(found):
        name = found[1].split(":")[-1]
        return _plain_value(name) if name in NO_ROWS else rows[name_in_path(rule, name)]

    return re.sub(r"<([^>]*)>", fill, rule)


def _plain_value(name):
    return {"seq": "1", "event": "conversion.created"}[name]


def test_read_with_another_tenants_path_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    before, seen, same = fingerprint(theirs.brand.id), 0, set()
    for method, rule, operation in _routes(app):
        body = _BODIES.get(f"{method} {rule.rule}", {}) if method != "GET" else None
        names = {name_in_path(rule.rule, name) for name in rule.arguments - NO_ROWS}
        for caller in _callers(app, mine, operation.guard.audience):
            for changed in [{name} for name in sorted(names)] + [names] * (len(names) > 1):
                nobodys_rows = mine.ids | {name: str(uuid4()) for name in changed}
                their_rows = mine.ids | {name: theirs.ids[name] for name in changed}
                to_nobodys = essence(caller.call(method, _path(rule.rule, nobodys_rows), body))
                to_theirs = essence(caller.call(method, _path(rule.rule, their_rows), body))
                assert to_theirs == to_nobodys, f"{method} {rule.rule} {changed}"
                assert to_theirs[0] in (401, 403, 404), f"{method} {rule.rule} {changed}: {to_theirs}"
                seen += 1
            if names and essence(caller.call(method, _path(rule.rule, mine.ids), body)) == to_nobodys:
                same.add(f"{method} {rule.rule}")
    assert seen > 100
    assert same == set()
    assert fingerprint(theirs.brand.id) == before


def test_query_with_another_tenants_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    before, same = fingerprint(theirs.brand.id), set()
    for method, rule, operation in _routes(app):
        for field in id_fields(operation.asks):
            name = name_of_field(field, rule.rule)
            for caller in _callers(app, mine, operation.guard.audience):
                path = _path(rule.rule, mine.ids)
                answers = [
                    essence(caller.call(method, f"{path}?{field}={row}"))
                    for row in (theirs.ids[name], str(uuid4()), mine.ids[name])
                ]
                assert answers[0] == answers[1], f"{method} {rule.rule} {field}"
                if answers[1] == answers[2]:
                    same.add(f"{method} {rule.rule} {field}")
    assert same == set()
    assert fingerprint(theirs.brand.id) == before


# Valid bodies of routes that name rows in them, by what the tenant's rows are called.
_NAMING = {
    "POST /api/me/coupons/mint": {"campaignCouponId": "coupon_id"},
    "POST /api/me/links": {"programId": "program_id", "customAlias": "tea-of-rita"},
    "POST /api/v1/affiliates/import/preview": {"programId": "program_id", "affiliates": [{"email": "a@b.example"}]},
    "POST /api/v1/conversions/import/preview": {"programId": "program_id", "conversions": [build_past_sale()]},
    "POST /api/v1/payouts/preview": {
        "programId": "program_id",
        "affiliateIds": ["affiliate_id"],
        "conversionIds": ["conversion_id"],
    },
}


def _fill_ids(body, rows):
    """Return a body with ids in place of the names of rows."""
    if isinstance(body, list):
        return [_fill_ids(each, rows) for each in body]
    return rows.get(body, body) if isinstance(body, str) else body


def test_body_with_another_tenants_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    before, named = fingerprint(theirs.brand.id), set()
    for method, rule, operation in _routes(app):
        route, fields = f"{method} {rule.rule}", sorted({*id_fields(operation.takes)} - {"affiliateId"})
        if not fields:
            continue
        named.add(route)
        assert set(fields) <= set(_NAMING[route]), route
        for field in fields:
            name = name_of_field(field, rule.rule)
            for caller in _callers(app, mine, operation.guard.audience):
                answers = []
                for row in (theirs.ids[name], str(uuid4()), mine.ids[name]):
                    rows = mine.ids | {name: row}
                    body = {key: _fill_ids(value, rows) for key, value in _NAMING[route].items()}
                    answers.append(essence(caller.call(method, rule.rule, body)))
                assert answers[0] == answers[1] != answers[2], f"{route} {field}"
    assert named == set(_NAMING)
    assert fingerprint(theirs.brand.id) == before


def test_signed_lead_for_another_tenants_program_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    answers = [
        essence(mine.brand.post_signed(SIGNED, {"affiliateSlug": "rita", "email": "a@b.example", "programId": row}))
        for row in (theirs.ids["program_id"], str(uuid4()), mine.ids["program_id"])
    ]

    assert answers[0] == answers[1] != answers[2]


def test_tool_with_another_tenants_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    agent, before, seen = Agent(mine.brand, "?confirm=off"), fingerprint(theirs.brand.id), 0
    for tool in agent.request_result("tools/list")["tools"]:
        schema = tool["inputSchema"]
        required = {
            field: mine.ids.get(name_of_field(field)) for field in schema.get("required", []) if field.endswith("Id")
        }
        for field in [field for field in schema["properties"] if re.search("Ids?$", field)]:
            name = name_of_field(field)
            if name not in mine.ids:
                continue
            answers = [
                agent.request_result(
                    "tools/call",
                    name=tool["name"],
                    arguments=required | {field: [row] if field.endswith("Ids") else row},
                )["structuredContent"]
                for row in (theirs.ids[name], str(uuid4()))
            ]
            plain = [full_tenants.UUID_PATTERN.sub("ID", str(answer)) for answer in answers]
            assert plain[0] == plain[1], f"{tool['name']} {field}"
            seen += 1
    assert seen > 40
    assert len(catalogue.bound_tools(app)) > 40
    assert fingerprint(theirs.brand.id) == before
