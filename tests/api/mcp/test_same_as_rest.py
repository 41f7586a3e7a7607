"""Whoever calls a tool is told what the operation would tell them. Source: core spec, section 1 ("same plan gates")."""

import re

import pytest

from api.mcp.tools import catalogue
from tests.api.mcp.test_tools import OPERATIONS
from tests.support.api.agents import Agent
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

NOBODY = "01890000-0000-7000-8000-000000000000"
URL = re.compile(r"\{([^}]*)\}")


def _by_rest(caller, row, ids):
    """Return the code of the operation behind a tool, "" when it does it."""
    path = URL.sub(lambda found: ids[found[1]], row["path"])
    answer = caller.call(row["method"], path, {} if row["method"] in ("POST", "PUT", "PATCH") else None)
    if answer.status_code < 400:
        return ""
    found = answer.json if answer.data else {}
    by_status = {401: "unauthorized", 403: "forbidden", 404: "not_found"}
    return found.get("error") or ("invalid_request" if "errors" in found else by_status[answer.status_code])


def _by_tool(agent, row, ids):
    told = agent.request_result(
        "tools/call", name=row["tool"], arguments={id: ids[id] for id in URL.findall(row["path"])}
    )
    return told["structuredContent"]["error"] if told["isError"] else ""


@pytest.mark.parametrize("who", ["Free", "Starter", "Growth", "Pro", "trial", "read"])
def test_every_tool_answers_what_its_operation_answers(app, who):
    brand = Brand.create(app, plan="Growth")
    if who == "trial":
        brand.set(plan="Starter", status="Trialing", trialEndsAt="2020-01-01T00:00:00Z")
    elif who != "read":
        brand.set(plan=who)
    caller = brand.other_key(scope="read") if who == "read" else brand
    agent = Agent(caller, "?confirm=off")
    ids = dict.fromkeys(("programId", "affiliateId", "conversionId", "eventId", "uncreditedId", "payoutId"), NOBODY)
    ids |= {"couponId": NOBODY, "codeId": NOBODY}

    for row in OPERATIONS:
        if row["tool"] == "record_lead":
            continue
        by_rest, by_tool = _by_rest(caller, row, ids), _by_tool(agent, row, ids)

        # A body that lacks what it must have is refused before anybody is asked, in one shape.
        assert by_tool == by_rest or (by_tool == "invalid_request" and by_rest.endswith(("_required", "_type"))), row


def test_another_tenants_ids_are_nobodys(app, brand, rival):
    rival.program()
    affiliate = rival.affiliate(f"rival-{rival.id.hex[:12]}")
    theirs = dict.fromkeys(("eventId", "uncreditedId", "payoutId", "couponId", "codeId"), str(affiliate))
    theirs |= {"programId": str(rival.programs[-1]), "affiliateId": str(affiliate)}
    theirs["conversionId"] = str(insert_conversion(rival, affiliate))
    before = rival.rows("select count(*), max(xmin::text::bigint) from affiliate")
    agent = Agent(brand)

    for row in OPERATIONS:
        ids = {id: theirs[id] for id in URL.findall(row["path"])}
        if not ids:
            continue
        told = agent.request_result("tools/call", name=row["tool"], arguments=ids)
        nobodys = agent.request_result("tools/call", name=row["tool"], arguments=dict.fromkeys(ids, NOBODY))

        assert told["isError"], row
        assert _without_ids(told) == _without_ids(nobodys), row
    assert rival.rows("select count(*), max(xmin::text::bigint) from affiliate") == before


def test_arguments_are_looked_at_one_by_one(app, brand):
    agent = Agent(brand)
    for name, bound in catalogue.bound_tools(app).items():
        ids = dict.fromkeys(bound.path, NOBODY)
        told = agent.call(name, **ids, nonsense=1)
        assert (told["error"], told["field"]) == ("unknown_argument", "nonsense"), name
        for id in bound.path:
            for wrong in (7, None, "stats", "../me", {}, f"{NOBODY}/x", NOBODY + "\x00"):
                told = agent.call(name, **ids | {id: wrong})
                assert (told["error"], told["field"]) == ("invalid_request", id), (name, wrong)
        if bound.body:  # a model sees no body, so it is told what its call lacks
            assert "body" not in agent.call(name, **ids).get("errors", {}), name
        for argument in bound.query:
            for wrong in ([1], {"a": 1}, None):
                told = agent.call(name, **ids | {argument: wrong})
                assert (told["error"], told["field"]) == ("invalid_request", argument), (name, argument, wrong)
    for arguments, field in (
        ({"take": 0}, "take"),
        ({"take": "20"}, "take"),
        ({"take": True}, "take"),
        ({"take": 1.5}, "take"),
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "c\x00"}, "cursor"),
        ({"programId": "stats"}, "programId"),
        ({"balances": "true"}, "balances"),
    ):
        told = agent.call("list_affiliates", **arguments)
        assert (told["error"], told["field"]) == ("invalid_request", field), arguments
    deep = {"tags": []}
    for _ in range(100):
        deep = {"tags": [deep]}
    for body in ({"name": 7}, {"name": "x" * 201}, {"name": "a\x00b"}, {"defaultCommissionValue": 1e300}, deep):
        sent = {"name": "P", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1} | body
        assert Agent(brand).request_result("tools/call", name="create_program", arguments=sent)["isError"], body


def test_a_key_that_was_revoked_meanwhile_ends_the_request(app, brand, monkeypatch):
    from api.mcp.operation_calls.client import OperationClient

    ask = OperationClient.call

    def revoked(self, *sent, **options):
        brand.rows("update api_key set revoked_at = now() where organization_id = %s returning id", brand.id)
        return ask(self, *sent, **options)

    monkeypatch.setattr(OperationClient, "call", revoked)
    answer = Agent(brand).send("tools/call", {"name": "list_programs"})

    assert (answer.status_code, answer.data) == (401, b"")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="finderfee"'


def _without_ids(told):
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", str(told["structuredContent"]))
