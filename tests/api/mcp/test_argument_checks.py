"""A tool refuses a caller as its operation would. Source: core spec, section 1 ("same plan gates")."""

import re

import pytest

from api.mcp.tools import catalogue
from tests.api.mcp.test_tools import OPERATIONS
from tests.support.api.agents import Agent
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
URL = re.compile(r"\{([^}]*)\}")


def _get_rest_error_code(caller, row, ids):
    """Return the error code of the operation behind a tool; "" if it succeeds."""
    path = URL.sub(lambda body: ids[body[1]], row["path"])
    answer = caller.call(row["method"], path, {} if row["method"] in ("POST", "PUT", "PATCH") else None)
    if answer.status_code < 400:
        return ""
    body = answer.json if answer.data else {}
    by_status = {401: "unauthorized", 403: "forbidden", 404: "not_found"}
    return body.get("error") or ("invalid_request" if "errors" in body else by_status[answer.status_code])


def _get_tool_error_code(agent, row, ids):
    result = agent.request_result(
        "tools/call", name=row["tool"], arguments={id: ids[id] for id in URL.findall(row["path"])}
    )
    return result["structuredContent"]["error"] if result["isError"] else ""


@pytest.mark.parametrize("caller_kind", ["Free", "Starter", "Growth", "Pro", "trial", "read"])
def test_tool_refuses_with_the_code_of_its_operation(app, caller_kind):
    brand = Brand.create(app, plan="Growth")
    if caller_kind == "trial":
        brand.set(plan="Starter", status="Trialing", trialEndsAt="2020-01-01T00:00:00Z")
    elif caller_kind != "read":
        brand.set(plan=caller_kind)
    caller = brand.other_key(scope="read") if caller_kind == "read" else brand
    agent = Agent(caller, "?confirm=off")
    ids = dict.fromkeys(("programId", "affiliateId", "conversionId", "eventId", "uncreditedId", "payoutId"), UNKNOWN_ID)
    ids |= {"couponId": UNKNOWN_ID, "codeId": UNKNOWN_ID}

    for row in OPERATIONS:
        if row["tool"] == "record_lead":
            continue
        by_rest, by_tool = _get_rest_error_code(caller, row, ids), _get_tool_error_code(agent, row, ids)

        # Tools refuse a body without a required field before the operation runs, with one code.
        assert by_tool == by_rest or (by_tool == "invalid_request" and by_rest.endswith(("_required", "_type"))), row


def test_other_tenants_ids_are_refused_like_unknown_ids(app, brand, rival):
    rival.program()
    affiliate = rival.affiliate(f"rival-{rival.id.hex[:12]}")
    rival_ids = dict.fromkeys(("eventId", "uncreditedId", "payoutId", "couponId", "codeId"), str(affiliate))
    rival_ids |= {"programId": str(rival.programs[-1]), "affiliateId": str(affiliate)}
    rival_ids["conversionId"] = str(insert_conversion(rival, affiliate))
    before = rival.rows("select count(*), max(xmin::text::bigint) from affiliate")
    agent = Agent(brand)

    for row in OPERATIONS:
        ids = {id: rival_ids[id] for id in URL.findall(row["path"])}
        if not ids:
            continue
        result = agent.request_result("tools/call", name=row["tool"], arguments=ids)
        unknown_result = agent.request_result("tools/call", name=row["tool"], arguments=dict.fromkeys(ids, UNKNOWN_ID))

        assert result["isError"], row
        assert _mask_ids(result) == _mask_ids(unknown_result), row
    assert rival.rows("select count(*), max(xmin::text::bigint) from affiliate") == before


def test_invalid_argument_is_named(app, brand):
    agent = Agent(brand)
    for name, bound in catalogue.bound_tools(app).items():
        ids = dict.fromkeys(bound.path, UNKNOWN_ID)
        result = agent.call(name, **ids, nonsense=1)
        assert (result["error"], result["field"]) == ("unknown_argument", "nonsense"), name
        for id in bound.path:
            for invalid in (7, None, "stats", "../me", {}, f"{UNKNOWN_ID}/x", UNKNOWN_ID + "\x00"):
                result = agent.call(name, **ids | {id: invalid})
                assert (result["error"], result["field"]) == ("invalid_request", id), (name, invalid)
        if bound.body:  # a model sees no body, so the error names the arguments
            assert "body" not in agent.call(name, **ids).get("errors", {}), name
        for argument in bound.query:
            for invalid in ([1], {"a": 1}, None):
                result = agent.call(name, **ids | {argument: invalid})
                assert (result["error"], result["field"]) == ("invalid_request", argument), (name, argument, invalid)
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
        result = agent.call("list_affiliates", **arguments)
        assert (result["error"], result["field"]) == ("invalid_request", field), arguments
    deep = {"tags": []}
    for _ in range(100):
        deep = {"tags": [deep]}
    for body in ({"name": 7}, {"name": "x" * 201}, {"name": "a\x00b"}, {"defaultCommissionValue": 1e300}, deep):
        arguments_sent = {"name": "P", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1} | body
        assert Agent(brand).request_result("tools/call", name="create_program", arguments=arguments_sent)["isError"], (
            body
        )


def test_key_revoked_during_a_call_returns_401(app, brand, monkeypatch):
    from api.mcp.operation_calls.client import OperationClient

    call = OperationClient.call

    def revoke_and_call(self, *positional, **options):
        brand.rows("update api_key set revoked_at = now() where organization_id = %s returning id", brand.id)
        return call(self, *positional, **options)

    monkeypatch.setattr(OperationClient, "call", revoke_and_call)
    answer = Agent(brand).send("tools/call", {"name": "list_programs"})

    assert (answer.status_code, answer.data) == (401, b"")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="finderfee"'


def _mask_ids(result):
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", str(result["structuredContent"]))
