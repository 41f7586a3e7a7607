"""Dangerous calls return a preview and run once, when the caller that requested them confirms."""

import base64
from datetime import timedelta

from adapters import clock
from tests.support.api.agents import Agent
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

ELICITATION = {"elicitation": {}}


def _is_archived(brand, program_id):
    return brand.get(f"/api/v1/programs/{program_id}").json["archivedAt"] is not None


def _move_clock(monkeypatch, minutes):
    at = clock.now() + timedelta(minutes=minutes)
    monkeypatch.setattr(clock, "now", lambda: at)


def test_token_is_bound_to_key_tool_arguments_and_five_minutes(app, brand, rival, monkeypatch):
    program, other = (str(brand.program(name=name)) for name in ("Knives", "Forks"))
    agent = Agent(brand, is_modern=False)
    question = agent.call("archive_program", programId=program)
    token = question["confirmToken"]
    state = Agent(brand, capabilities=ELICITATION).request_result(
        "tools/call", name="archive_program", arguments={"programId": program}
    )["requestState"]

    assert question["needsConfirmation"] is True
    assert question["preview"]["about"]["programId"]["name"] == "Knives"
    assert question["preview"]["last30Days"]["affiliatesCount"] == 0
    raw = base64.urlsafe_b64decode(token)
    for name, caller, tool, arguments, token_sent in (
        ("another key", Agent(brand.other_key()), "archive_program", {"programId": program}, token),
        ("another tenant", Agent(rival), "archive_program", {"programId": program}, token),
        ("another tool", agent, "update_program", {"programId": program}, token),
        ("other arguments", agent, "archive_program", {"programId": other}, token),
        ("more arguments", agent, "update_program", {"programId": program, "isActive": False}, token),
        ("a changed byte", agent, "archive_program", {"programId": program}, _flip_bit(raw, -1)),
        ("a changed version", agent, "archive_program", {"programId": program}, _flip_bit(raw, 0)),
        ("a changed nonce", agent, "archive_program", {"programId": program}, _flip_bit(raw, 3)),
        ("half of it", agent, "archive_program", {"programId": program}, token[: len(token) // 2]),
        ("nothing", agent, "archive_program", {"programId": program}, ""),
        ("no base64", agent, "archive_program", {"programId": program}, "é\x00%"),
        ("a requestState", agent, "archive_program", {"programId": program}, state),
    ):
        assert caller.get_refusal_code(tool, **arguments, confirmToken=token_sent) == "confirm_token_invalid", name
    assert agent.get_refusal_code("archive_program", programId=program, confirmToken=7) == "invalid_request"
    assert not _is_archived(brand, program)
    with monkeypatch.context() as late:
        _move_clock(late, 5.1)
        assert (
            agent.get_refusal_code("archive_program", programId=program, confirmToken=token) == "confirm_token_invalid"
        )
    assert not _is_archived(brand, program)
    assert agent.call("archive_program", programId=program.upper(), confirmToken=token)["error"]
    assert agent.call("archive_program", programId=program, confirmToken=token) == {"done": True}
    assert _is_archived(brand, program)
    assert not _is_archived(brand, other)


def _flip_bit(raw, index):
    changed = bytearray(raw)
    changed[index] ^= 1
    return base64.urlsafe_b64encode(bytes(changed)).decode()


def test_repeated_confirmation_runs_once_and_two_confirmations_run_twice(brand, drain):
    program = str(brand.program())
    sale = {
        "programId": program,
        "affiliateId": str(brand.affiliate(f"ann-{brand.id.hex[:12]}")),
        "kind": "bonus",
        "commissionCents": 500,
        "note": "thanks",
    }
    agent = Agent(brand)
    first, second = (agent.call("create_conversion", **sale)["confirmToken"] for _ in range(2))

    first_result = agent.call("create_conversion", **sale, confirmToken=first)
    again = agent.call("create_conversion", **dict(reversed(sale.items())), confirmToken=first)
    other = agent.call("create_conversion", **sale, confirmToken=second)

    assert "error" not in first_result, first_result
    assert first_result == again
    assert other["conversion"]["id"] != first_result["conversion"]["id"]
    assert brand.rows("select count(*) from conversion where commission_cents = 500") == [(2,)]


def test_client_with_elicitation_gets_a_question(brand, monkeypatch):
    program = str(brand.program(name="Knives"))
    agent = Agent(brand, capabilities=ELICITATION)
    call = {"name": "archive_program", "arguments": {"programId": program}}
    paused = agent.request_result("tools/call", **call)
    question = paused["inputRequests"]["confirm"]
    state = paused["requestState"]

    assert paused["resultType"] == "input_required"
    assert question["method"] == "elicitation/create"
    assert "Knives" in question["params"]["message"]
    assert list(question["params"]["requestedSchema"]["properties"]) == ["confirm"]

    def answer_question(answer, state_sent=state, client=agent, **more):
        return client.send("tools/call", {**call, "requestState": state_sent, "inputResponses": answer, **more}).json

    yes = {"confirm": {"action": "accept", "content": {"confirm": True}}}
    for answer in (
        {"confirm": {"action": "decline"}},
        {"confirm": {"action": "cancel"}},
        {"confirm": {"action": "accept", "content": {"confirm": False}}},
        {"confirm": {"action": "accept", "content": {"confirm": "true"}}},
        {"confirm": {"action": "accept"}},
    ):
        assert answer_question(answer)["result"]["structuredContent"]["error"] == "declined_by_user", answer
    no_action = {"confirm": {"action": 7, "content": {"confirm": True}}}
    no_content = {"confirm": {"action": "accept", "content": 7}}
    for malformed in (7, [], {"confirm": 7}, {"confirm": None}, no_action, no_content):
        assert answer_question(malformed)["error"]["code"] == -32602, malformed
    for name, bad_state in (("changed", state[:-8] + "AAAAAAA="), ("none", 7), ("empty", "")):
        assert answer_question(yes, bad_state)["error"]["code"] == -32602, name
    other = Agent(brand.other_key(), capabilities=ELICITATION)
    assert answer_question(yes, client=other)["error"]["code"] == -32602
    assert answer_question(yes, arguments={"programId": str(brand.program())})["error"]["code"] == -32602
    assert answer_question({}, state)["result"]["resultType"] == "input_required"
    with monkeypatch.context() as late:
        _move_clock(late, 5.1)
        assert answer_question(yes)["result"]["resultType"] == "input_required"
    assert not _is_archived(brand, program)
    assert answer_question(yes)["result"]["structuredContent"] == {"done": True}
    assert _is_archived(brand, program)
    url_only = Agent(brand, capabilities={"elicitation": {"url": {}}})
    assert "confirmToken" in url_only.call("archive_program", programId=program)


def test_confirmation_is_required_only_for_dangerous_arguments(app, brand):
    program = str(brand.program())
    ann, ben = (str(brand.affiliate(f"{name}-{brand.id.hex[:12]}", status="Approved")) for name in ("ann", "ben"))
    applicant = str(brand.affiliate(f"cid-{brand.id.hex[:12]}", status="Pending"))
    conversion_id = str(insert_conversion(brand, ann, status="Invalidated"))
    agent, agent_with_confirm_off = Agent(brand), Agent(brand, "?confirm=off")
    email = f"dan-{brand.id.hex}@example.com"
    for tool, arguments, expects_question in (
        ("update_program", {"programId": program, "name": "Q"}, False),
        ("update_program", {"programId": program, "budgetCents": 1000}, True),
        ("update_program", {"programId": program, "isActive": False}, True),
        ("update_affiliate", {"affiliateId": ann, "notes": "x"}, False),
        ("update_affiliate", {"affiliateId": ann, "status": "Approved"}, False),
        ("update_affiliate", {"affiliateId": ann, "status": "Paused"}, True),
        (
            "update_affiliate",
            {"affiliateId": ann, "customCommissionType": "Percentage", "customCommissionValue": 99},
            True,
        ),
        ("approve_affiliate", {"affiliateId": ann}, False),
        ("reject_affiliate", {"affiliateId": applicant}, False),
        ("validate_conversion", {"conversionId": conversion_id}, True),
        ("invalidate_conversion", {"conversionId": conversion_id}, True),
        ("set_sub_affiliate_config", {"programId": program, "enabled": True, "percent": 5}, True),
        ("set_attribution_params", {"custom": "zz"}, True),
        ("invite_affiliate", {"programId": program, "email": email}, True),
        ("bulk_update_affiliates", {"affiliateIds": [ann, ben], "action": "pause"}, True),
        ("ban_affiliate", {"affiliateId": ben}, True),
    ):
        result = agent.call(tool, **arguments)

        assert ("needsConfirmation" in result) == expects_question, (tool, result)
        assert "error" not in result, (tool, result)
        if expects_question:
            assert result["preview"]["arguments"] == arguments, tool
    people = agent.call("bulk_update_affiliates", affiliateIds=[ann, ben], action="pause")["preview"]
    assert (people["number"], [person["status"] for person in people["affiliates"]]) == (2, ["Approved"] * 2)
    assert agent_with_confirm_off.call("ban_affiliate", affiliateId=ben)["status"] == "Banned"


def test_three_tools_require_confirmation_even_when_it_is_off(app):
    brand = Brand.create(app, plan="Pro")
    program = str(brand.program())
    ann = str(brand.affiliate(f"ann-{brand.id.hex[:12]}"))
    agent_with_confirm_off = Agent(brand, "?confirm=off")
    row = {"affiliateSlug": f"ann-{brand.id.hex[:12]}", "amountCents": 1, "commissionCents": 1, "currency": "USD"}
    rows = [row | {"occurredAt": "2024-01-31"}]

    result = agent_with_confirm_off.call("import_conversions", programId=program, conversions=rows)
    assert result["preview"]["preview"]["wouldImport"] == 1
    assert agent_with_confirm_off.call("create_conversion", programId=program, affiliateId=ann, amountCents=1)[
        "needsConfirmation"
    ]
    assert agent_with_confirm_off.call("set_home_currency", homeCurrency="EUR")["preview"]["now"] == {
        "homeCurrency": "USD"
    }
    assert brand.rows("select count(*) from conversion") == [(0,)]
    assert brand.rows("select home_currency from organization where id = %s", brand.id) == [("USD",)]


def test_call_that_would_be_refused_asks_for_no_confirmation(app, brand, rival):
    rival.program()
    agent, free = Agent(brand), Agent(Brand.create(app, plan="Free"))
    program = str(brand.program())

    for tool, arguments, code in (
        ("archive_program", {"programId": str(rival.programs[-1])}, "not_found"),
        ("set_sub_affiliate_config", {"programId": program, "enabled": 7, "percent": "x"}, "invalid_request"),
        ("bulk_update_affiliates", {"affiliateIds": 7, "action": "pause"}, "invalid_request"),
        ("bulk_update_affiliates", {"affiliateIds": [], "action": "pause"}, "invalid_request"),
        ("update_campaign_coupon", {"programId": program, "couponId": program, "grantedAffiliateIds": 7}, "not_found"),
        ("set_home_currency", {"homeCurrency": "EUR"}, "plan_tier_required"),
    ):
        assert agent.get_refusal_code(tool, **arguments) == code, tool
    assert free.get_refusal_code("archive_program", programId=program) == "plan_tier_required"
