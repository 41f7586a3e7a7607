"""The tools listed to an agent, and their schemas and hints. Source: core spec, section 1."""

import csv
import json
from pathlib import Path

import pytest

from api.mcp.tools import catalogue
from api.mcp.tools.binding import CONFIRM_TOKEN
from api.mcp.tools.definition import ToolKind
from tests.support.api.agents import Agent
from tests.support.rows.brands import Brand

# The operations open to both keys and people except the CSV file, plus the signed lead: 61.
with Path(__file__).with_name("operations.tsv").open(newline="") as file:
    OPERATIONS = list(csv.DictReader(file, delimiter="\t"))
MAILS = {"import_affiliates", "invite_affiliate", "bulk_invite_affiliates"}
# These need write access although they only read.
NEED_WRITE = {"preview_conversion_import", "preview_payout"}


@pytest.fixture
def tools(brand):
    return {tool["name"]: tool for tool in Agent(brand).request_result("tools/list")["tools"]}


def test_tools_match_the_table_of_operations(app, tools):
    bound = catalogue.bound_tools(app)
    paths = {
        name: (tool.method, next(app.url_map.iter_rules(tool.tool.endpoint)).rule.count("<"))
        for name, tool in bound.items()
    }

    assert len(OPERATIONS) == 61
    assert list(tools) == [row["tool"] for row in OPERATIONS]
    for row in OPERATIONS:
        name = row["tool"]
        is_lead = name == "record_lead"
        assert paths[name] == (row["method"], row["path"].count("{")), name
        assert (bound[name].tool.kind, bound[name].operation.guard.plan or "-") == (row["kind"], row["plan"]), name
        assert bound[name].operation.guard.audience == ("signed" if is_lead else "brand"), name
    routes = {rule.rule.split("<")[0] for rule in app.url_map.iter_rules()}
    assert {row["path"].split("{")[0] for row in OPERATIONS} <= routes


def test_list_is_short_and_every_tool_has_a_schema(tools, app):
    assert len(json.dumps(list(tools.values()), separators=(",", ":"))) <= 40 * 1024
    for name, tool in tools.items():
        schema, bound = tool["inputSchema"], catalogue.bound_tools(app)[name]

        assert 10 <= len(tool["description"]) <= 300, name
        assert (schema["type"], schema["additionalProperties"]) == ("object", False), name
        assert set(schema.get("required", [])) <= set(schema["properties"]), name
        assert (CONFIRM_TOKEN in schema["properties"]) == bound.tool.may_need_confirmation, name
        assert "outputSchema" not in tool, name
        for id in bound.path:
            assert schema["properties"][id] == {"type": "string", "format": "uuid"}, name
        if bound.rows:
            rows = schema["properties"][bound.rows]
            assert (rows["default"], rows["maximum"]) == (20, 100), name


def test_hints_match_the_kind_of_the_tool(tools, app):
    for name, tool in tools.items():
        hints, kind = tool["annotations"], catalogue.bound_tools(app)[name].tool.kind

        assert hints.get("readOnlyHint", False) == (kind is ToolKind.Read), name
        assert kind is ToolKind.Read or hints["destructiveHint"] == (kind is ToolKind.Destructive), name
        assert hints.get("openWorldHint", True) == (name in MAILS), name
    idempotent = {name for name, tool in tools.items() if tool["annotations"].get("idempotentHint")}
    assert {"update_program", "approve_affiliate", "archive_program", "dismiss_uncredited_sale"} <= idempotent
    assert {"create_program", "create_conversion", "invite_affiliate", "record_lead"}.isdisjoint(idempotent)


def test_query_and_key_scope_narrow_the_list(app, brand):
    all_tools = [row["tool"] for row in OPERATIONS]
    reads = [row["tool"] for row in OPERATIONS if row["kind"] == "read"]
    reader = Agent(brand.other_key(scope="read"))

    assert Agent(brand).list_tools() == all_tools
    assert Agent(brand, "?readonly=1").list_tools() == reads
    assert reader.list_tools() == [name for name in reads if name not in NEED_WRITE]
    by_set = [Agent(brand, f"?toolsets={name}").list_tools() for name in catalogue.TOOLSETS]
    assert sorted(name for names in by_set for name in names) == sorted(all_tools)
    assert Agent(brand, "?toolsets=fraud,payouts&readonly=true").list_tools() == [
        name for name in reads if name in by_set[3] + by_set[4]
    ]
    for query in ("?toolsets=fraud,nothing", "?readonly=maybe", "?confirm=no"):
        assert Agent(brand, query).send("tools/list").status_code == 400, query
    for agent, hidden in (
        (Agent(brand, "?toolsets=fraud"), "list_programs"),
        (Agent(brand, "?readonly=1"), "create_program"),
        (reader, "preview_payout"),
        (reader, "archive_program"),
    ):
        assert agent.get_refusal_code(hidden) == "forbidden", hidden


def test_resources_and_prompts_obey_the_key(app, brand, rival):
    program, agent = brand.program(name="Knives"), Agent(brand)
    guide, program_resource = (
        agent.request_result("resources/read", uri=uri)["contents"][0]
        for uri in ("finderfee://guide", f"finderfee://programs/{program}")
    )

    assert (guide["mimeType"], "minor units" in guide["text"]) == ("text/markdown", True)
    assert json.loads(program_resource["text"])["name"] == "Knives"
    for uri in (
        f"finderfee://programs/{rival.program()}",
        "finderfee://programs/stats",
        f"finderfee://programs/{'-' * 36}",
        f"finderfee://programs/{brand.id.hex}----",
        "finderfee://x",
        "file:///etc",
    ):
        assert agent.send("resources/read", {"uri": uri}).json["error"]["code"] == -32602, uri
    prompts = {prompt["name"]: prompt for prompt in agent.request_result("prompts/list")["prompts"]}
    assert list(prompts) == ["review_applications", "check_tracking", "weekly_report", "explain_commission"]
    prompt = agent.request_result("prompts/get", name="check_tracking", arguments={"programId": str(program)})
    assert str(program) in prompt["messages"][0]["content"]["text"]
    for name, arguments in (
        ("nothing", {}),
        ("check_tracking", {}),
        ("check_tracking", {"programId": 7}),
        ("check_tracking", {"programId": "x" * 201}),
        ("weekly_report", {"other": "x"}),
    ):
        answer = agent.send("prompts/get", {"name": name, "arguments": arguments})
        assert answer.json["error"]["code"] == -32602, (name, arguments)


def test_free_plan_lists_every_tool(app):
    free = Agent(Brand.create(app, plan="Free"))

    assert len(free.list_tools()) == 61
    assert free.call("get_billing_state")["planTier"] == "Free"
    refusal = free.request_result("tools/call", name="list_programs")
    assert refusal["isError"]
    assert set(refusal["structuredContent"]) == {"error", "message", "required", "current", "trialing", "doc_url"}
