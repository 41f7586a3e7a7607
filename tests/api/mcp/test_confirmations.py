"""Dangerous calls show what they would do, and are done once, when they are confirmed, by who asked."""

import base64
from datetime import timedelta

from adapters import clock
from tests.support.api.agents import Agent
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

ASKS = {"elicitation": {}}


def _archived(brand, program_id):
    return brand.get(f"/api/v1/programs/{program_id}").json["archivedAt"] is not None


def _later(monkeypatch, minutes):
    at = clock.now() + timedelta(minutes=minutes)
    monkeypatch.setattr(clock, "now", lambda: at)


def test_a_token_is_of_one_key_one_tool_its_arguments_and_five_minutes(app, brand, rival, monkeypatch):
    program, other = (str(brand.program(name=name)) for name in ("Knives", "Forks"))
    agent = Agent(brand, is_modern=False)
    told = agent.call("archive_program", programId=program)
    token = told["confirmToken"]
    state = Agent(brand, capabilities=ASKS).request_result(
        "tools/call", name="archive_program", arguments={"programId": program}
    )["requestState"]

    assert told["needsConfirmation"] is True
    assert told["preview"]["about"]["programId"]["name"] == "Knives"
    assert told["preview"]["last30Days"]["affiliatesCount"] == 0
    raw = base64.urlsafe_b64decode(token)
    for name, caller, tool, sent, brought in (
        ("another key", Agent(brand.other_key()), "archive_program", {"programId": program}, token),
        ("another tenant", Agent(rival), "archive_program", {"programId": program}, token),
        ("another tool", agent, "update_program", {"programId": program}, token),
        ("other arguments", agent, "archive_program", {"programId": other}, token),
        ("more arguments", agent, "update_program", {"programId": program, "isActive": False}, token),
        ("a changed byte", agent, "archive_program", {"programId": program}, _flipped(raw, -1)),
        ("a changed version", agent, "archive_program", {"programId": program}, _flipped(raw, 0)),
        ("a changed nonce", agent, "archive_program", {"programId": program}, _flipped(raw, 3)),
        ("half of it", agent, "archive_program", {"programId": program}, token[: len(token) // 2]),
        ("nothing", agent, "archive_program", {"programId": program}, ""),
        ("no base64", agent, "archive_program", {"programId": program}, "é\x00%"),
        ("a requestState", agent, "archive_program", {"programId": program}, state),
    ):
        assert caller.get_refusal_code(tool, **sent, confirmToken=brought) == "confirm_token_invalid", name
    assert agent.get_refusal_code("archive_program", programId=program, confirmToken=7) == "invalid_request"
    assert not _archived(brand, program)
    with monkeypatch.context() as late:
        _later(late, 5.1)
        assert (
            agent.get_refusal_code("archive_program", programId=program, confirmToken=token) == "confirm_token_invalid"
        )
    assert not _archived(brand, program)
    assert agent.call("archive_program", programId=program.upper(), confirmToken=token)["error"]
    assert agent.call("archive_program", programId=program, confirmToken=token) == {"done": True}
    assert _archived(brand, program)
    assert not _archived(brand, other)


def _flipped(raw, place):
    changed = bytearray(raw)
    changed[place] ^= 1
    return base64.urlsafe_b64encode(bytes(changed)).decode()


def test_a_confirmation_that_is_sent_twice_is_done_once_and_two_are_done_twice(brand, drain):
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

    once = agent.call("create_conversion", **sale, confirmToken=first)
    again = agent.call("create_conversion", **dict(reversed(sale.items())), confirmToken=first)
    other = agent.call("create_conversion", **sale, confirmToken=second)

    assert "error" not in once, once
    assert once == again
    assert other["conversion"]["id"] != once["conversion"]["id"]
    assert brand.rows("select count(*) from conversion where commission_cents = 500") == [(2,)]


def test_a_client_that_can_ask_is_answered_with_a_question(brand, monkeypatch):
    program = str(brand.program(name="Knives"))
    agent = Agent(brand, capabilities=ASKS)
    call = {"name": "archive_program", "arguments": {"programId": program}}
    asked = agent.request_result("tools/call", **call)
    question = asked["inputRequests"]["confirm"]
    state = asked["requestState"]

    assert asked["resultType"] == "input_required"
    assert question["method"] == "elicitation/create"
    assert "Knives" in question["params"]["message"]
    assert list(question["params"]["requestedSchema"]["properties"]) == ["confirm"]

    def answered(answer, brought=state, client=agent, **more):
        return client.send("tools/call", {**call, "requestState": brought, "inputResponses": answer, **more}).json

    yes = {"confirm": {"action": "accept", "content": {"confirm": True}}}
    for answer in (
        {"confirm": {"action": "decline"}},
        {"confirm": {"action": "cancel"}},
        {"confirm": {"action": "accept", "content": {"confirm": False}}},
        {"confirm": {"action": "accept", "content": {"confirm": "true"}}},
        {"confirm": {"action": "accept"}},
    ):
        assert answered(answer)["result"]["structuredContent"]["error"] == "declined_by_user", answer
    no_action = {"confirm": {"action": 7, "content": {"confirm": True}}}
    no_content = {"confirm": {"action": "accept", "content": 7}}
    for malformed in (7, [], {"confirm": 7}, {"confirm": None}, no_action, no_content):
        assert answered(malformed)["error"]["code"] == -32602, malformed
    for name, brought in (("changed", state[:-8] + "AAAAAAA="), ("none", 7), ("empty", "")):
        assert answered(yes, brought)["error"]["code"] == -32602, name
    other = Agent(brand.other_key(), capabilities=ASKS)
    assert answered(yes, client=other)["error"]["code"] == -32602
    assert answered(yes, arguments={"programId": str(brand.program())})["error"]["code"] == -32602
    assert answered({}, state)["result"]["resultType"] == "input_required"
    with monkeypatch.context() as late:
        _later(late, 5.1)
        assert answered(yes)["result"]["resultType"] == "input_required"
    assert not _archived(brand, program)
    assert answered(yes)["result"]["structuredContent"] == {"done": True}
    assert _archived(brand, program)
    url_only = Agent(brand, capabilities={"elicitation": {"url": {}}})
    assert "confirmToken" in url_only.call("archive_program", programId=program)


def test_what_asks_asks_when_its_row_says_so(app, brand):
    program = str(brand.program())
    ann, ben = (str(brand.affiliate(f"{name}-{brand.id.hex[:12]}", status="Approved")) for name in ("ann", "ben"))
    applied = str(brand.affiliate(f"cid-{brand.id.hex[:12]}", status="Pending"))
    sold = str(insert_conversion(brand, ann, status="Invalidated"))
    agent, off = Agent(brand), Agent(brand, "?confirm=off")
    mail = f"dan-{brand.id.hex}@example.com"
    for tool, sent, asks in (
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
        ("reject_affiliate", {"affiliateId": applied}, False),
        ("validate_conversion", {"conversionId": sold}, True),
        ("invalidate_conversion", {"conversionId": sold}, True),
        ("set_sub_affiliate_config", {"programId": program, "enabled": True, "percent": 5}, True),
        ("set_attribution_params", {"custom": "zz"}, True),
        ("invite_affiliate", {"programId": program, "email": mail}, True),
        ("bulk_update_affiliates", {"affiliateIds": [ann, ben], "action": "pause"}, True),
        ("ban_affiliate", {"affiliateId": ben}, True),
    ):
        told = agent.call(tool, **sent)

        assert ("needsConfirmation" in told) == asks, (tool, told)
        assert "error" not in told, (tool, told)
        if asks:
            assert told["preview"]["arguments"] == sent, tool
    people = agent.call("bulk_update_affiliates", affiliateIds=[ann, ben], action="pause")["preview"]
    assert (people["number"], [one["status"] for one in people["affiliates"]]) == (2, ["Approved"] * 2)
    assert off.call("ban_affiliate", affiliateId=ben)["status"] == "Banned"


def test_three_ask_however_the_client_is_set_up(app):
    brand = Brand.create(app, plan="Pro")
    program = str(brand.program())
    ann = str(brand.affiliate(f"ann-{brand.id.hex[:12]}"))
    off = Agent(brand, "?confirm=off")
    row = {"affiliateSlug": f"ann-{brand.id.hex[:12]}", "amountCents": 1, "commissionCents": 1, "currency": "USD"}
    rows = [row | {"occurredAt": "2024-01-31"}]

    told = off.call("import_conversions", programId=program, conversions=rows)
    assert told["preview"]["preview"]["wouldImport"] == 1
    assert off.call("create_conversion", programId=program, affiliateId=ann, amountCents=1)["needsConfirmation"]
    assert off.call("set_home_currency", homeCurrency="EUR")["preview"]["now"] == {"homeCurrency": "USD"}
    assert brand.rows("select count(*) from conversion") == [(0,)]
    assert brand.rows("select home_currency from organization where id = %s", brand.id) == [("USD",)]


def test_nobody_is_asked_about_what_would_be_refused(app, brand, rival):
    rival.program()
    agent, free = Agent(brand), Agent(Brand.create(app, plan="Free"))
    program = str(brand.program())

    for tool, sent, code in (
        ("archive_program", {"programId": str(rival.programs[-1])}, "not_found"),
        ("set_sub_affiliate_config", {"programId": program, "enabled": 7, "percent": "x"}, "invalid_request"),
        ("bulk_update_affiliates", {"affiliateIds": 7, "action": "pause"}, "invalid_request"),
        ("bulk_update_affiliates", {"affiliateIds": [], "action": "pause"}, "invalid_request"),
        ("update_campaign_coupon", {"programId": program, "couponId": program, "grantedAffiliateIds": 7}, "not_found"),
        ("set_home_currency", {"homeCurrency": "EUR"}, "plan_tier_required"),
    ):
        assert agent.get_refusal_code(tool, **sent) == code, tool
    assert free.get_refusal_code("archive_program", programId=program) == "plan_tier_required"
