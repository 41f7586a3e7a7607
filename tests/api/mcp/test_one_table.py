"""One table of calls, made by REST and by a tool: both doors refuse and answer the same, word for word.

Each row is a tool with the arguments of one case. What a tool alone says (arguments by name, a confirmation) is in
`test_same_as_rest.py` and `test_confirmations.py`.
"""

import json
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from api.mcp.operation_calls import arguments
from api.mcp.tools import catalogue
from tests.api.mcp import tool_calls
from tests.api.mcp.test_same_as_rest import NOBODY, URL
from tests.api.mcp.test_tools import OPERATIONS
from tests.support.api.agents import Agent
from tests.support.gateways.gateway_connections import play_gateway
from tests.support.rows.brands import Brand

ROWS = {row["tool"]: row for row in OPERATIONS}
#: Tools that do nothing that a second call could not do, so that both doors can be answered by the same rows.
_READS = [name for name, row in ROWS.items() if row["kind"] == "read"]


@pytest.fixture(scope="module")
def stage():
    with play_gateway() as playing:
        yield playing


@pytest.fixture
def made(app, stage):
    return tool_calls.make(app, stage)


def _by_rest(app, caller, tool, sent):
    """Return the status and the body of the operation behind a tool."""
    bound, row = catalogue.bound_tools(app)[tool], ROWS[tool]
    path = URL.sub(lambda found: str(sent[found[1]]), row["path"])
    preset = {name: str(value).lower() for name, value in bound.tool.preset.items()}
    rows = {bound.rows: arguments.DEFAULT_ROWS} if bound.rows and bound.rows not in sent else {}
    query = preset | {
        bound.query[name]: value if isinstance(value, str) else json.dumps(value)
        for name, value in ({**sent, **rows}).items()
        if name in bound.query
    }
    body = {bound.body[name]: value for name, value in sent.items() if name in bound.body} if bound.body else None
    if row["tool"] == "record_lead":
        return caller.post_signed(row["path"], body)
    return caller.call(row["method"], f"{path}?{urlencode(query)}" if query else path, body)


def _refusal(answer):
    """Return a refusal of REST in the shape that a tool gives it."""
    if not answer.data:
        return {"error": {403: "forbidden", 404: "not_found", 429: "rate_limited"}[answer.status_code]}
    found = answer.json
    if "errors" in found and "error" not in found:
        return {"error": "invalid_request", "errors": found["errors"]}
    return found


def _check_same(app, caller, tool, sent, *, confirm=""):
    answer = _by_rest(app, caller, tool, sent)
    result = Agent(caller, confirm).request_result("tools/call", name=tool, arguments=sent)
    shown = result["structuredContent"]
    if answer.status_code >= 400:
        assert result["isError"], (tool, sent, answer.text, shown)
        refusal = _refusal(answer)
        assert {name: shown.get(name) for name in refusal} == refusal, (tool, sent)
    else:
        assert not result["isError"], (tool, sent, shown)
    return answer, shown


def _ids(app, tool, sent):
    bound = catalogue.bound_tools(app)[tool]
    return [name for name in sent if name.endswith("Id") and (name in bound.path or name in bound.body)]


def test_every_read_answers_the_same_by_both_doors(app, made):
    for tool in _READS:
        answer, shown = _check_same(app, made.brand, tool, made.calls[tool])
        expected = answer.json if isinstance(answer.json, dict) else {"items": answer.json}
        withheld = shown.pop("withheld", {})
        kept = {name: value for name, value in expected.items() if value is not None and name not in withheld}
        if tool == "get_audit_log":  # looking is written down, too
            continue
        assert set(shown) == set(kept), tool


@pytest.mark.parametrize("confirm", ["", "?confirm=off"])
def test_an_unknown_or_foreign_id_is_refused_the_same(app, made, rival, confirm):
    rival.program()
    theirs = str(rival.affiliate(f"rival-{rival.id.hex[:12]}"))
    foreign = {"programId": str(rival.programs[-1]), "affiliateId": theirs}

    for tool, sent in made.calls.items():
        for name in _ids(app, tool, sent):
            if name == "affiliateId" and tool == "preview_payout":
                continue
            for value in (NOBODY, foreign.get(name, theirs)):
                answer, _ = _check_same(app, made.brand, tool, {**sent, name: value}, confirm=confirm)
                assert answer.status_code in (400, 404), (tool, name, answer.text)


def test_an_argument_of_the_wrong_type_is_refused_the_same(app, made):
    for tool, sent in made.calls.items():
        bound = catalogue.bound_tools(app)[tool]
        for name in bound.body:
            if bound.properties[name].get("type") in ("string", "integer", "boolean", "array"):
                answer, _ = _check_same(app, made.brand, tool, {**sent, name: {"wrong": True}}, confirm="?confirm=off")
                assert answer.status_code == 400, (tool, name)


@pytest.mark.parametrize("plan", ["Free", "Starter", "Growth"])
def test_a_plan_that_lacks_an_operation_refuses_the_same(app, made, plan):
    made.brand.set(plan=plan)
    refused = 0
    for tool, sent in made.calls.items():
        if ROWS[tool]["plan"] == "-":
            continue
        order = ("Free", "Starter", "Growth", "Pro")
        if order.index(plan) < order.index(ROWS[tool]["plan"]):
            answer, shown = _check_same(app, made.brand, tool, sent)
            assert (answer.status_code, shown["error"]) == (402, "plan_tier_required"), tool
            refused += 1
    assert refused > (40 if plan == "Free" else 0)


def test_a_read_key_is_refused_the_same_and_hears_which_scope_it_lacks(app, made):
    reader = made.brand.other_key(scope="read")
    writing = [tool for tool in made.calls if tool not in Agent(reader).list_tools()]

    assert len(writing) == 29
    for tool in writing:
        answer, shown = _check_same(app, reader, tool, made.calls[tool])
        assert answer.status_code == 403, tool
        assert shown["message"] == "This API key lacks the scope read_write.", tool
    lead = Agent(reader).call("record_lead", **made.lead)
    assert (lead["error"], lead["message"]) == ("forbidden", "This API key lacks the scope read_write.")


def test_a_lead_under_a_gateway_is_refused_the_same_and_names_the_browser_tag(app, made):
    answer, shown = _check_same(app, made.brand, "record_lead", made.lead)

    assert (answer.status_code, shown["error"]) == (409, "stripe_connect_active")
    assert "leads" in shown["message"]
    assert "browser tag" in shown["message"]
    assert "sales" not in shown["message"]
    sale = made.brand.sale(affiliateSlug=made.lead["affiliateSlug"])
    assert "sales" in sale.json["message"]


@pytest.mark.parametrize("unknown", [0, 1, 3])
@pytest.mark.parametrize("action", ["approve", "pause", "delete"])
def test_a_bulk_action_skips_unknown_ids_by_both_doors(app, action, unknown):
    brand = Brand.create(app, plan="Pro")
    brand.program()
    status = "Pending" if action == "approve" else "Approved"
    people = [str(brand.affiliate(f"p{number}-{brand.id.hex[:12]}", status=status)) for number in range(4)]
    rest, tool = people[:2], people[2:]
    strangers = [str(uuid4()) for _ in range(unknown)]

    answer = brand.post("/api/v1/affiliates/bulk-action", {"affiliateIds": [*strangers, *rest], "action": action})
    asked = Agent(brand).call("bulk_update_affiliates", affiliateIds=[*strangers, *tool], action=action)
    shown = Agent(brand).run_tool("bulk_update_affiliates", affiliateIds=[*strangers, *tool], action=action)

    assert [row.get("affiliateId") for row in asked["preview"]["affiliates"][:unknown]] == strangers
    assert answer.json == {"action": action, "affected": 2, "skipped": unknown, "affiliateIds": rest}
    assert shown == {"action": action, "affected": 2, "skipped": unknown, "affiliateIds": tool}
