"""A read with the id of another tenant's row gets the same response as one with an unknown id.

The tests replace each id in the path, the query and the body of every route without a call in test_writes.py, and the
ids of every tool of agents, while the other ids stay the caller's own. The response for the caller's own row must
differ; otherwise the comparison would prove nothing.
"""

import re
from uuid import uuid4

import pytest

from api.mcp.tools import catalogue
from tests.rules.tenants import full_tenants
from tests.rules.tenants.full_tenants import NO_ROWS, row_name_of_field, row_name_of_parameter
from tests.rules.tenants.isolation import hash_rows, id_fields, without_ids, without_row_security
from tests.rules.write_calls import CALLS
from tests.support.api.agents import Agent
from tests.support.api.import_requests import build_past_sale
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import REASON
from tests.support.rows.leads import SIGNED

_AUDIENCES = ("brand", "dashboard", "affiliate")
# The network shows the programs of all tenants to every affiliate.
_NETWORK = "/api/me/network/"
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


def _list_routes(app):
    """Yield method, rule and operation of each described route that test_writes.py has no call of."""
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        operation = app.view_functions[rule.endpoint].operation
        if operation.guard.audience not in _AUDIENCES or rule.rule.startswith(_NETWORK):
            continue
        for method in sorted(rule.methods - {"HEAD", "OPTIONS"}, key=lambda method: (method == "DELETE", method)):
            if f"{method} {rule.rule}" not in CALLS and operation.is_described:
                yield method, rule, operation


def _list_callers(app, tenant, audience):
    if audience == "affiliate":
        return [Partner(app, tenant.email)]
    owner = tenant.brand.person("Owner")
    return [owner] if audience == "dashboard" else [owner, tenant.brand]


def _fill_path(rule, rows):
    """Return the path of a route. Raises KeyError for a kind of row that full_tenants.py does not create."""

    def fill(match):
        name = match[1].split(":")[-1]
        return _plain_value(name) if name in NO_ROWS else rows[row_name_of_parameter(rule, name)]

    return re.sub(r"<([^>]*)>", fill, rule)


def _plain_value(name):
    return {"seq": "1", "event": "conversion.created"}[name]


def test_read_with_another_tenants_path_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    before, seen, same = hash_rows(theirs.brand.id), 0, set()
    for method, rule, operation in _list_routes(app):
        body = _BODIES.get(f"{method} {rule.rule}", {}) if method != "GET" else None
        names = {row_name_of_parameter(rule.rule, name) for name in rule.arguments - NO_ROWS}
        for caller in _list_callers(app, mine, operation.guard.audience):
            for changed in [{name} for name in sorted(names)] + [names] * (len(names) > 1):
                unknown_rows = mine.ids | {name: str(uuid4()) for name in changed}
                their_rows = mine.ids | {name: theirs.ids[name] for name in changed}
                for_unknown = without_ids(caller.call(method, _fill_path(rule.rule, unknown_rows), body))
                for_theirs = without_ids(caller.call(method, _fill_path(rule.rule, their_rows), body))
                assert for_theirs == for_unknown, f"{method} {rule.rule} {changed}"
                assert for_theirs[0] in (401, 403, 404), f"{method} {rule.rule} {changed}: {for_theirs}"
                seen += 1
            if names and without_ids(caller.call(method, _fill_path(rule.rule, mine.ids), body)) == for_unknown:
                same.add(f"{method} {rule.rule}")
    assert seen > 100
    assert same == set()
    assert hash_rows(theirs.brand.id) == before


def test_query_with_another_tenants_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    before, same = hash_rows(theirs.brand.id), set()
    for method, rule, operation in _list_routes(app):
        for field in id_fields(operation.asks):
            name = row_name_of_field(field, rule.rule)
            for caller in _list_callers(app, mine, operation.guard.audience):
                path = _fill_path(rule.rule, mine.ids)
                responses = [
                    without_ids(caller.call(method, f"{path}?{field}={row}"))
                    for row in (theirs.ids[name], str(uuid4()), mine.ids[name])
                ]
                assert responses[0] == responses[1], f"{method} {rule.rule} {field}"
                if responses[1] == responses[2]:
                    same.add(f"{method} {rule.rule} {field}")
    assert same == set()
    assert hash_rows(theirs.brand.id) == before


# Valid bodies with row names in place of row ids, by route.
_BODIES_WITH_ROWS = {
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
        return [_fill_ids(item, rows) for item in body]
    return rows.get(body, body) if isinstance(body, str) else body


def test_body_with_another_tenants_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    before, tested_routes = hash_rows(theirs.brand.id), set()
    for method, rule, operation in _list_routes(app):
        route, fields = f"{method} {rule.rule}", sorted({*id_fields(operation.takes)} - {"affiliateId"})
        if not fields:
            continue
        tested_routes.add(route)
        assert set(fields) <= set(_BODIES_WITH_ROWS[route]), route
        for field in fields:
            name = row_name_of_field(field, rule.rule)
            for caller in _list_callers(app, mine, operation.guard.audience):
                responses = []
                for row in (theirs.ids[name], str(uuid4()), mine.ids[name]):
                    rows = mine.ids | {name: row}
                    body = {key: _fill_ids(value, rows) for key, value in _BODIES_WITH_ROWS[route].items()}
                    responses.append(without_ids(caller.call(method, rule.rule, body)))
                assert responses[0] == responses[1] != responses[2], f"{route} {field}"
    assert tested_routes == set(_BODIES_WITH_ROWS)
    assert hash_rows(theirs.brand.id) == before


def test_signed_lead_for_another_tenants_program_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    responses = [
        without_ids(mine.brand.post_signed(SIGNED, {"affiliateSlug": "rita", "email": "a@b.example", "programId": row}))
        for row in (theirs.ids["program_id"], str(uuid4()), mine.ids["program_id"])
    ]

    assert responses[0] == responses[1] != responses[2]


def test_tool_with_another_tenants_id_answers_like_unknown_id(app, tenants):
    mine, theirs = tenants
    agent, before, seen = Agent(mine.brand, "?confirm=off"), hash_rows(theirs.brand.id), 0
    for tool in agent.request_result("tools/list")["tools"]:
        schema = tool["inputSchema"]
        required = {
            field: mine.ids.get(row_name_of_field(field))
            for field in schema.get("required", [])
            if field.endswith("Id")
        }
        for field in [field for field in schema["properties"] if re.search("Ids?$", field)]:
            name = row_name_of_field(field)
            if name not in mine.ids:
                continue
            responses = [
                agent.request_result(
                    "tools/call",
                    name=tool["name"],
                    arguments=required | {field: [row] if field.endswith("Ids") else row},
                )["structuredContent"]
                for row in (theirs.ids[name], str(uuid4()))
            ]
            plain = [full_tenants.UUID_PATTERN.sub("ID", str(answer)) for answer in responses]
            assert plain[0] == plain[1], f"{tool['name']} {field}"
            seen += 1
    assert seen > 40
    assert len(catalogue.bound_tools(app)) > 40
    assert hash_rows(theirs.brand.id) == before
