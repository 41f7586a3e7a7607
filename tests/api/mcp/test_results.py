"""Results of tools: complete if they fit, otherwise marked as truncated. Recording a lead by a tool."""

import json

from api.mcp.operation_calls import results
from api.mcp.operation_calls.client import ToolAnswer
from tests.support.api.agents import Agent


def test_every_result_is_an_object_of_one_shape(brand):
    program, agent = str(brand.program(name="Knives")), Agent(brand)

    result = agent.request_result("tools/call", name="list_programs", arguments={})
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert (result["isError"], result["content"][0]["type"]) == (False, "text")
    (item,) = result["structuredContent"]["items"]
    assert (item["name"], None in item.values()) == ("Knives", False)
    assert "nextCursor" not in result["structuredContent"]
    assert [row["programId"] for row in agent.call("get_program_stats")["items"]] == [program]
    assert agent.run_tool("archive_program", programId=program) == {"done": True}
    problem = agent.call("create_program", name=7)
    assert (problem["error"], problem["field"] in problem["errors"]) == ("invalid_request", True)


def test_long_list_is_paged_by_twenty_and_truncated_to_the_size_limit(brand):
    brand.program()
    for number in range(45):
        brand.affiliate(f"a{number}-{brand.id.hex[:12]}", notes="n" * 400)
    agent = Agent(brand)

    default_page, large_page = agent.call("list_affiliates"), agent.call("list_affiliates", take=100)
    assert (len(default_page["items"]), default_page["hasMore"]) == (20, True)
    assert (large_page["truncated"], len(large_page["items"]) in (25, 12)) == (True, True)
    assert len(json.dumps(large_page)) <= results.MAX_BYTES * 1.2
    assert agent.call("list_affiliates", cursor=large_page["nextCursor"], take=1)["items"][0]["id"] not in {
        row["id"] for row in large_page["items"]
    }
    seen, cursor = [], {}
    while True:
        page = agent.call("list_affiliates", take=100, **cursor)
        seen += [row["id"] for row in page["items"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == len(set(seen)) == 45


def test_result_without_pages_is_truncated():
    answer = ToolAnswer(False, {"id": "1", "lines": [{"text": "x" * 100}] * 1000, "few": [1, None]})

    shortened = results._cut_lists(answer.data)
    assert (shortened["truncated"], shortened["id"], shortened["few"]) == (True, "1", [1, None])
    assert 100 < len(shortened["lines"]) < 250
    assert len(json.dumps(shortened)) <= results.MAX_BYTES * 1.1


def test_lead_is_signed_with_the_secret_of_the_key(app, brand):
    program, slug = str(brand.program()), f"ann-{brand.id.hex[:12]}"
    brand.affiliate(slug)
    agent = Agent(brand)
    lead = {"affiliateSlug": slug, "email": f"eve-{brand.id.hex}@example.com", "name": "Eve", "campaignId": program}

    assert agent.call("record_lead", **lead)["ok"] is True
    assert brand.rows("select count(*) from lead") == [(1,)]
    assert agent.get_refusal_code("record_lead", affiliateSlug=slug) == "email_required"
    assert agent.get_refusal_code("record_lead", **lead, programId=program) == "unknown_argument"
    assert Agent(brand.other_key(scope="read")).get_refusal_code("record_lead", **lead) == "forbidden"
    brand.set(gateways="stripe")
    refusal = agent.call("record_lead", **lead | {"email": f"fay-{brand.id.hex}@example.com"})
    assert (refusal["error"], brand.rows("select count(*) from lead")) == ("stripe_connect_active", [(1,)])
    brand.set(gateways="", plan="Free")
    assert agent.get_refusal_code("record_lead", **lead) == "plan_tier_required"
