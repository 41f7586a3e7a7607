"""REST and MCP tools answer and refuse the same calls identically.

Each row is a tool with the arguments of one case. Behaviour of tools alone (arguments by
name, confirmations) is in `test_argument_checks.py` and `test_confirmations.py`.
"""

import json
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from api.mcp.operation_calls import arguments
from api.mcp.tools import catalogue
from tests.api.mcp import tool_calls
from tests.api.mcp.test_argument_checks import UNKNOWN_ID, URL
from tests.api.mcp.test_tools import OPERATIONS
from tests.support.api.agents import Agent
from tests.support.gateways.gateway_connections import play_gateway
from tests.support.rows.brands import Brand

ROWS = {row["tool"]: row for row in OPERATIONS}
#: Tools without side effects, so that REST and the tool can be called on the same rows.
_READS = [name for name, row in ROWS.items() if row["kind"] == "read"]


@pytest.fixture(scope="module")
def stage():
    with play_gateway() as playing:
        yield playing


@pytest.fixture
def tool_brand(app, stage):
    return tool_calls.create_tool_brand(app, stage)


def _call_rest(app, caller, tool, call_args):
    """Return the status and the body of the operation behind a tool."""
    bound, row = catalogue.bound_tools(app)[tool], ROWS[tool]
    path = URL.sub(lambda match: str(call_args[match[1]]), row["path"])
    preset = {name: str(value).lower() for name, value in bound.tool.preset.items()}
    rows = {bound.rows: arguments.DEFAULT_ROWS} if bound.rows and bound.rows not in call_args else {}
    query = preset | {
        bound.query[name]: value if isinstance(value, str) else json.dumps(value)
        for name, value in ({**call_args, **rows}).items()
        if name in bound.query
    }
    body = {bound.body[name]: value for name, value in call_args.items() if name in bound.body} if bound.body else None
    if row["tool"] == "record_lead":
        return caller.post_signed(row["path"], body)
    return caller.call(row["method"], f"{path}?{urlencode(query)}" if query else path, body)


def _build_tool_refusal(answer):
    """Return a refusal of REST in the shape that a tool gives it."""
    if not answer.data:
        return {"error": {403: "forbidden", 404: "not_found", 429: "rate_limited"}[answer.status_code]}
    body = answer.json
    if "errors" in body and "error" not in body:
        return {"error": "invalid_request", "errors": body["errors"]}
    return body


def _check_same(app, caller, tool, call_args, *, confirm=""):
    answer = _call_rest(app, caller, tool, call_args)
    result = Agent(caller, confirm).request_result("tools/call", name=tool, arguments=call_args)
    content = result["structuredContent"]
    if answer.status_code >= 400:
        assert result["isError"], (tool, call_args, answer.text, content)
        refusal = _build_tool_refusal(answer)
        assert {name: content.get(name) for name in refusal} == refusal, (tool, call_args)
    else:
        assert not result["isError"], (tool, call_args, content)
    return answer, content


def _list_id_arguments(app, tool, call_args):
    bound = catalogue.bound_tools(app)[tool]
    return [name for name in call_args if name.endswith("Id") and (name in bound.path or name in bound.body)]


def test_every_read_tool_answers_like_rest(app, tool_brand):
    for tool in _READS:
        answer, content = _check_same(app, tool_brand.brand, tool, tool_brand.calls[tool])
        expected = answer.json if isinstance(answer.json, dict) else {"items": answer.json}
        withheld = content.pop("withheld", {})
        expected_names = {name: value for name, value in expected.items() if value is not None and name not in withheld}
        if tool == "get_audit_log":  # reading the log is logged, too
            continue
        assert set(content) == set(expected_names), tool


@pytest.mark.parametrize("confirm", ["", "?confirm=off"])
def test_unknown_or_other_tenants_id_is_refused_like_rest(app, tool_brand, rival, confirm):
    rival.program()
    rival_affiliate_id = str(rival.affiliate(f"rival-{rival.id.hex[:12]}"))
    rival_ids = {"programId": str(rival.programs[-1]), "affiliateId": rival_affiliate_id}

    for tool, call_args in tool_brand.calls.items():
        for name in _list_id_arguments(app, tool, call_args):
            if name == "affiliateId" and tool == "preview_payout":
                continue
            for value in (UNKNOWN_ID, rival_ids.get(name, rival_affiliate_id)):
                answer, _ = _check_same(app, tool_brand.brand, tool, {**call_args, name: value}, confirm=confirm)
                assert answer.status_code in (400, 404), (tool, name, answer.text)


def test_wrongly_typed_argument_is_refused_like_rest(app, tool_brand):
    for tool, call_args in tool_brand.calls.items():
        bound = catalogue.bound_tools(app)[tool]
        for name in bound.body:
            if bound.properties[name].get("type") in ("string", "integer", "boolean", "array"):
                answer, _ = _check_same(
                    app, tool_brand.brand, tool, {**call_args, name: {"wrong": True}}, confirm="?confirm=off"
                )
                assert answer.status_code == 400, (tool, name)


@pytest.mark.parametrize("plan", ["Free", "Starter", "Growth"])
def test_insufficient_plan_is_refused_like_rest(app, tool_brand, plan):
    tool_brand.brand.set(plan=plan)
    refused = 0
    for tool, call_args in tool_brand.calls.items():
        if ROWS[tool]["plan"] == "-":
            continue
        order = ("Free", "Starter", "Growth", "Pro")
        if order.index(plan) < order.index(ROWS[tool]["plan"]):
            answer, content = _check_same(app, tool_brand.brand, tool, call_args)
            assert (answer.status_code, content["error"]) == (402, "plan_tier_required"), tool
            refused += 1
    assert refused > (40 if plan == "Free" else 0)


def test_read_key_is_refused_like_rest_with_the_missing_scope(app, tool_brand):
    reader = tool_brand.brand.other_key(scope="read")
    writing = [tool for tool in tool_brand.calls if tool not in Agent(reader).list_tools()]

    assert len(writing) == 29
    for tool in writing:
        answer, content = _check_same(app, reader, tool, tool_brand.calls[tool])
        assert answer.status_code == 403, tool
        assert content["message"] == "This API key lacks the scope read_write.", tool
    lead = Agent(reader).call("record_lead", **tool_brand.lead)
    assert (lead["error"], lead["message"]) == ("forbidden", "This API key lacks the scope read_write.")


def test_lead_with_a_connected_gateway_is_refused_like_rest(app, tool_brand):
    answer, content = _check_same(app, tool_brand.brand, "record_lead", tool_brand.lead)

    assert (answer.status_code, content["error"]) == (409, "stripe_connect_active")
    assert "leads" in content["message"]
    assert "browser tag" in content["message"]
    assert "sales" not in content["message"]
    sale = tool_brand.brand.sale(affiliateSlug=tool_brand.lead["affiliateSlug"])
    assert "sales" in sale.json["message"]


@pytest.mark.parametrize("unknown", [0, 1, 3])
@pytest.mark.parametrize("action", ["approve", "pause", "delete"])
def test_bulk_action_skips_unknown_ids_like_rest(app, action, unknown):
    brand = Brand.create(app, plan="Pro")
    brand.program()
    status = "Pending" if action == "approve" else "Approved"
    people = [str(brand.affiliate(f"p{number}-{brand.id.hex[:12]}", status=status)) for number in range(4)]
    rest, tool = people[:2], people[2:]
    unknown_ids = [str(uuid4()) for _ in range(unknown)]

    answer = brand.post("/api/v1/affiliates/bulk-action", {"affiliateIds": [*unknown_ids, *rest], "action": action})
    question = Agent(brand).call("bulk_update_affiliates", affiliateIds=[*unknown_ids, *tool], action=action)
    result = Agent(brand).run_tool("bulk_update_affiliates", affiliateIds=[*unknown_ids, *tool], action=action)

    assert [row.get("affiliateId") for row in question["preview"]["affiliates"][:unknown]] == unknown_ids
    assert answer.json == {"action": action, "affected": 2, "skipped": unknown, "affiliateIds": rest}
    assert result == {"action": action, "affected": 2, "skipped": unknown, "affiliateIds": tool}
