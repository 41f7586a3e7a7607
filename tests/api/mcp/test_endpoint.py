"""POST /mcp: authentication, protocol revisions and responses to malformed messages. Source: Model Context Protocol."""

import hashlib
import json

import pytest

from adapters.identity import tokens
from tests.support.api.agents import MODERN, Agent
from tests.support.rows.brands import Brand, Partner

OLD = ("2025-11-25", "2025-06-18", "2025-03-26")
META = "io.modelcontextprotocol/"


def _hash(key):
    return hashlib.sha256(key.encode()).digest()


def _post(app, headers, **more):
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    return app.test_client().post("/mcp", json=body, headers=headers, **more)


def test_only_an_api_key_is_accepted(app, brand):
    key, revoked = brand.api_key, brand.other_key()
    brand.rows("update api_key set revoked_at = now() where key_hash = %s returning id", _hash(revoked.api_key))
    affiliate = Partner(app, "ann@example.com").token
    cases = {
        "a key": ({"Authorization": f"Bearer {key}"}, 200),
        "a relayed key": ({"X-Service-Api-Key": key}, 200),
        "both, Authorization wins": ({"Authorization": "Bearer x", "X-Service-Api-Key": key}, 401),
        "nothing": ({}, 401),
        "nonsense": ({"Authorization": "Bearer nonsense"}, 401),
        "an unknown token": ({"Authorization": "Bearer a.b.c"}, 401),
        "a revoked key": ({"Authorization": f"Bearer {revoked.api_key}"}, 401),
        "a person": ({"Authorization": f"Bearer {brand.person().api_key}"}, 403),
        "an affiliate": ({"Authorization": f"Bearer {affiliate}"}, 403),
    }
    for caller, (headers, status) in cases.items():
        answer = _post(app, headers)

        assert answer.status_code == status, caller
        assert (answer.headers.get("WWW-Authenticate") == 'Bearer realm="finderfee"') == (status == 401), caller
        assert status != 401 or answer.data == b"", caller


def test_other_hosts_and_origins_return_403(app, brand):
    key = {"Authorization": f"Bearer {brand.api_key}"}
    for name, headers, status in (
        ("its name", {"Host": "127.0.0.1:8000"}, 200),
        ("this machine", {"Host": "localhost:1234"}, 200),
        ("this machine, by IPv6", {"Host": "[::1]:8000"}, 200),
        ("a stranger's name", {"Host": "evil.test"}, 403),
        ("a name with ours in it", {"Host": "127.0.0.1.evil.test"}, 403),
        ("our page", {"Origin": "http://127.0.0.1:8000"}, 200),
        ("a stranger's page", {"Origin": "https://evil.test"}, 403),
        ("a page without an origin", {"Origin": "null"}, 403),
        ("no origin at all", {"Origin": "http://["}, 403),
    ):
        answer = _post(app, key | headers)

        assert answer.status_code == status, name
        assert not any(header.lower().startswith("access-control-") for header, _ in answer.headers), name


def test_localhost_is_rejected_when_public_url_is_set(app, brand, monkeypatch):
    import settings

    monkeypatch.setenv("PUBLIC_BASE_URL", "https://partners.acme.example")
    settings.current.cache_clear()
    try:
        key = {"Authorization": f"Bearer {brand.api_key}"}
        statuses = [_post(app, key | {"Host": host}).status_code for host in ("partners.acme.example", "localhost")]
    finally:
        monkeypatch.undo()
        settings.current.cache_clear()

    assert statuses == [200, 403]


def test_malformed_message_gets_its_json_rpc_error(brand):
    agent = Agent(brand, is_modern=False)
    for body, status, code in (
        (b"", 400, -32700),
        (b"{", 400, -32700),
        (b"\xff", 400, -32700),
        (b'{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}', 400, -32700),
        (b"[" * 2000, 400, -32700),
        (b"[]", 400, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600),
        (b"7", 400, -32600),
        (b'"ping"', 400, -32600),
        (b"{}", 400, -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', 400, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}', 400, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}', 400, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_program","arguments":7}}', 400, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool"}}', 200, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}', 200, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"nothing/there"}', 404, -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}', 404, -32601),
    ):
        answer = agent.post(body)

        assert (answer.status_code, answer.json["error"]["code"]) == (status, code), body[:80]
    for body in (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', b'{"jsonrpc":"2.0","id":1,"result":{}}'):
        answer = agent.post(body)

        assert (answer.status_code, answer.data) == (202, b""), body


def test_message_over_five_mebibytes_returns_413(brand):
    agent = Agent(brand, is_modern=False)
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"a": ""}}}
    room = 5 * 1024 * 1024 - len(json.dumps(message))
    message["params"]["_meta"]["a"] = "x" * room

    assert agent.post(message).status_code == 200
    message["params"]["_meta"]["a"] += "x"
    assert agent.post(message).status_code == 413


def test_handshake_negotiates_a_revision_and_opens_no_session(brand):
    agent = Agent(brand, is_modern=False)
    for requested, agreed in (*((version, version) for version in OLD), ("2024-11-05", OLD[0]), ("2026-07-28", OLD[0])):
        answer = agent.send(
            "initialize", {"protocolVersion": requested, "capabilities": {}, "clientInfo": {"name": "x"}}
        )
        result = answer.json["result"]

        assert (result["protocolVersion"], result["serverInfo"]["name"]) == (agreed, "finderfee")
        assert result["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}}
        assert "Mcp-Session-Id" not in answer.headers
    for version in OLD:
        assert agent.send("ping", MCP_Protocol_Version=version).json["result"] == {}, version
    assert agent.send("initialize", {}).json["error"]["code"] == -32602
    for method in ("GET", "DELETE"):
        answer = brand.call(method, "/mcp", Origin="http://127.0.0.1:8000")
        assert (answer.status_code, "Access-Control-Allow-Origin" in answer.headers) == (405, False), method


def test_modern_request_needs_no_handshake(brand):
    agent = Agent(brand)
    discovery = agent.request_result("server/discover")

    assert (discovery["resultType"], discovery["cacheScope"]) == ("complete", "private")
    assert discovery["supportedVersions"] == [MODERN, *OLD]
    assert discovery["_meta"][f"{META}serverInfo"]["name"] == "finderfee"
    assert len(discovery["instructions"]) < 1024
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        listed = agent.request_result(method)

        assert (listed["resultType"], listed["cacheScope"], listed["ttlMs"] >= 0) == ("complete", "private", True), (
            method
        )
    for method in ("initialize", "ping", "nothing/there"):
        answer = agent.send(method)

        assert (answer.status_code, answer.json["error"]["code"]) == (404, -32601), method


def test_modern_headers_must_match_the_body(brand):
    agent, version = Agent(brand), f"{META}protocolVersion"
    unknown = {"_meta": {version: "2031-01-01"}}
    missing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {version: MODERN}}}
    for name, answer, code in (
        ("another version in the header", agent.send("tools/list", MCP_Protocol_Version="2025-06-18"), -32020),
        ("another method in the header", agent.send("tools/list", Mcp_Method="tools/call"), -32020),
        ("no method in the header", agent.send("tools/list", Mcp_Method=""), -32020),
        ("another tool", agent.send("tools/call", {"name": "get_program"}, Mcp_Name="list_programs"), -32020),
        ("another prompt", agent.send("prompts/get", {"name": "check_tracking"}, Mcp_Name="x"), -32020),
        ("another resource", agent.send("resources/read", {"uri": "finderfee://guide"}, Mcp_Name="x"), -32020),
        ("invalid base64", agent.send("tools/call", {"name": "x"}, Mcp_Name="=?base64?%?="), -32020),
        ("an unknown version", agent.send("tools/list", unknown, MCP_Protocol_Version="2031-01-01"), -32022),
        (
            "a version in the header only",
            agent.post({**missing, "params": {}}, MCP_Protocol_Version="x"),
            -32602,
        ),
        ("no capabilities", agent.post(missing, MCP_Protocol_Version=MODERN, Mcp_Method="tools/list"), -32602),
        ("invalid capabilities", agent.send("tools/list", {"_meta": {f"{META}clientCapabilities": 7}}), -32602),
        ("an invalid client", agent.send("tools/list", {"_meta": {f"{META}clientInfo": [1]}}), -32602),
    ):
        assert (answer.status_code, answer.json["error"]["code"]) == (400, code), name
    answer = agent.send("tools/list", unknown, MCP_Protocol_Version="2031-01-01")
    assert answer.json["error"]["data"] == {"supported": [MODERN, *OLD], "requested": "2031-01-01"}
    assert agent.send("tools/call", {"name": "ünbekannt"}).json["error"]["code"] == -32602


def test_whitespace_around_a_header_is_ignored(brand):
    for name in (" get_home_currency", "get_home_currency  ", "\tget_home_currency\t"):
        answer = Agent(brand).send("tools/call", {"name": "get_home_currency"}, Mcp_Name=name)

        assert answer.status_code == 200, (name, answer.text)


def test_agent_is_named_in_the_audit_log(app):
    brand = Brand.create(app, plan="Pro")
    program = Agent(brand).run_tool("create_program", name="P", defaultCommissionType="Fixed", defaultCommissionValue=1)
    long = {"name": "n" * 300 + "\x00", "version": 7}
    params = {"_meta": {f"{META}clientInfo": long}, "name": "update_program"}
    changed = Agent(brand).send("tools/call", {**params, "arguments": {"programId": program["id"], "name": "Q"}})
    brand.post("/api/v1/programs", {"name": "R", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1})

    entries = brand.get("/api/v1/audit-log").json["items"]
    assert [(entry["action"], entry["via"], entry["client"], entry["actorType"]) for entry in entries] == [
        ("program.created", None, None, "api_key"),
        ("program.updated", "mcp", "n" * 100, "api_key"),
        ("program.created", "mcp", "tester 1.0", "api_key"),
    ]
    assert entries[1]["requestId"] == changed.headers["X-Request-Id"]


def test_call_counts_once_in_the_bucket_of_its_operation(app, brand):
    counted_buckets = []
    limiter = app.extensions["limiter"]
    allows = limiter.allows
    limiter.allows = lambda bucket, who: counted_buckets.append(bucket) or allows(bucket, who)
    try:
        agent = Agent(brand)
        for call, buckets in (
            (lambda: agent.list_tools(), ["standard"]),
            (lambda: agent.call("list_programs"), ["standard"]),
            (lambda: agent.call("list_programs", nonsense=1), ["standard"]),
            (lambda: agent.call("preview_conversion_import", programId=str(brand.id)), ["import"]),
            (lambda: agent.post(b"{"), ["standard"]),
            (lambda: agent.post({"jsonrpc": "2.0", "method": "notifications/x"}), ["standard"]),
        ):
            counted_buckets.clear()
            call()
            assert counted_buckets == buckets
    finally:
        del limiter.allows


def test_rate_limit_applies_to_endpoint_and_tool(app, brand, monkeypatch):
    limiter = app.extensions["limiter"]
    monkeypatch.setattr(limiter, "allows", lambda *_: False)
    agent = Agent(brand)

    answer = agent.send("tools/list")
    assert (answer.status_code, answer.data) == (429, b"")
    assert agent.get_refusal_code("list_programs") == "rate_limited"


def test_dashboard_token_is_refused_as_an_api_key(app, brand):
    token = tokens.issue_dashboard(
        organization_id=brand.id,
        role="Owner",
        email="owner@example.com",
        is_email_verified=True,
        ttl_s=600,
        is_interactive=False,
    )

    answer = _post(app, {"X-Service-Api-Key": token})
    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


def test_null_is_an_invalid_request_and_broken_json_a_parse_error(brand):
    agent = Agent(brand)

    for raw, code in ((b"null", -32600), (b" null\n", -32600), (b"7", -32600), (b"[]", -32600), (b"true", -32600),
                      (b"nul", -32700), (b"", -32700), (b"{", -32700)):  # fmt: skip
        answer = agent.post(raw)
        assert (answer.status_code, answer.json["error"]["code"], answer.json["id"]) == (400, code, None), raw


_MALFORMED = [
    *(7, "x", [], None, {"confirm": 7}, {"confirm": None}, {"other": []}),
    *({"confirm": {"action": action}} for action in ("nonsense", ["accept"], 7, None, {})),
    *({"confirm": {"action": "accept", "content": content}} for content in (7, "yes", [], True)),
]


@pytest.mark.parametrize("malformed", _MALFORMED)
@pytest.mark.parametrize("method", ["tools/call", "tools/list", "prompts/get", "resources/read"])
def test_malformed_input_responses_are_invalid_params_in_every_method(brand, malformed, method):
    params_by_method = {"tools/call": {"name": "list_programs"}, "prompts/get": {"name": "weekly_report"}}
    params = params_by_method.get(method, {"uri": "finderfee://guide"})

    for is_modern in (True, False):
        answer = Agent(brand, is_modern=is_modern).send(method, {**params, "inputResponses": malformed})
        assert (answer.status_code, answer.json["error"]["code"]) == (400, -32602)
        assert " must be " in answer.json["error"]["message"]
    well_formed = Agent(brand).send(method, {**params, "inputResponses": {"confirm": {"action": "cancel"}}})
    assert "result" in well_formed.json


def test_non_string_request_state_is_invalid_params(brand):
    answer = Agent(brand).send("tools/call", {"name": "list_programs", "requestState": 7})

    assert answer.json["error"]["code"] == -32602
