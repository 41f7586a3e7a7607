"""OAuth clients authorized by a person: the tokens that /mcp accepts, and their refusal by every other route.

Source: core spec, "Callers"; RFC 9728, RFC 8707, RFC 6750; Model Context Protocol, "Authorization".
"""

import json

import pytest

import settings
from adapters.identity import tokens
from api.access import callers
from tests.support.api.agents import Agent
from tests.support.outside import identity_provider as idp
from tests.support.rows.brands import Brand

BASE_URL = "http://127.0.0.1:8000"
METADATA = f'resource_metadata="{BASE_URL}/.well-known/oauth-protected-resource/mcp"'
BOTH = "finderfee.read finderfee.write"
ADDRESSES = ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource")


@pytest.fixture
def issuer(monkeypatch, tmp_path):
    """Configure one identity provider for people, affiliates and agents."""
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [idp.public_jwk(idp.private_key(alg)) for alg in ("RS256", "ES256", "EdDSA")]}))
    for name, value in {
        "PUBLIC_BASE_URL": BASE_URL,
        "MCP_OAUTH_ISSUER": idp.ISSUER,
        "MCP_OAUTH_JWKS": str(path),
        "DASHBOARD_JWT_ISSUER": idp.ISSUER,
        "DASHBOARD_JWT_JWKS": str(path),
        "AFFILIATE_JWT_ISSUER": idp.ISSUER,
        "AFFILIATE_JWT_JWKS": str(path),
    }.items():
        monkeypatch.setenv(name, value)
    _clear_caches()
    yield
    monkeypatch.undo()
    _clear_caches()


def _clear_caches():
    settings.current.cache_clear()
    tokens.clear_caches()
    callers.clear_cache()


def _issue_token(brand, *, alg="EdDSA", signer=None, **changes) -> str:
    claims = {
        "aud": f"{BASE_URL}/mcp",
        "sub": f"ann-{brand.id.hex}",
        "org_id": str(brand.id),
        "role": "Owner",
        "email": f"ann-{brand.id.hex}@example.com",
        "scope": BOTH,
    }
    return idp.sign_token(signer or idp.private_key(alg), idp.build_claims(**{**claims, **changes}))


def _authorize(brand, **changes) -> Brand:
    return Brand(brand.app, brand.id, _issue_token(brand, **changes), "")


def _ping(brand, **changes):
    return Agent(_authorize(brand, **changes), is_modern=False).send("ping")


def test_metadata_names_the_issuer_of_tokens(app, brand, issuer):
    for address in ADDRESSES:
        answer = app.test_client().get(address, headers={"Origin": "https://a-client.example"})

        assert answer.json == {
            "resource": f"{BASE_URL}/mcp",
            "resource_name": "Finderfee",
            "authorization_servers": [idp.ISSUER],
            "scopes_supported": ["finderfee.read", "finderfee.write"],
            "bearer_methods_supported": ["header"],
        }
        assert answer.headers["Access-Control-Allow-Origin"] == "https://a-client.example"
    stranger = app.test_client().post("/mcp", json={})
    assert (stranger.status_code, stranger.data) == (401, b"")
    assert stranger.headers["WWW-Authenticate"] == f'Bearer {METADATA}, scope="finderfee.read"'


def test_without_an_issuer_metadata_returns_404(app, brand):
    for address in ADDRESSES:
        answer = app.test_client().get(address)
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert app.test_client().post("/mcp", json={}).headers["WWW-Authenticate"] == 'Bearer realm="finderfee"'


def test_oauth_client_acts_as_the_person_who_authorized_it(app, issuer):
    brand = Brand.create(app, plan="Pro")
    agent = Agent(_authorize(brand))

    created = agent.run_tool("create_program", name="P", defaultCommissionType="Fixed", defaultCommissionValue=1)
    agent.run_tool("archive_program", programId=created["id"])
    assert len(agent.list_tools()) == 61
    entries = brand.rows("select action, actor_type, actor_label, via, actor_user_id from audit_entry order by id")
    [(member_id, role)] = brand.rows("select id, role from member where subject = %s", f"ann-{brand.id.hex}")
    assert role == "Owner"
    assert entries == [
        (action, "oauth", f"ann-{brand.id.hex}@example.com", "mcp", member_id)
        for action in ("program.created", "program.archived")
    ]
    entry = agent.call("get_audit_log")["items"][0]
    assert (entry["actorType"], {"actorLabel", "actorUserId", "ip"} & entry.keys()) == ("oauth", set())


def test_token_of_each_algorithm_is_accepted_and_any_other_returns_401(app, brand, rival, issuer):
    forger = idp.private_key("EdDSA", "forger")
    unsigned = ".".join(
        (
            idp.encode_base64url(b'{"alg":"none","typ":"JWT"}'),
            idp.encode_base64url(json.dumps(idp.build_claims()).encode()),
            "",
        )
    )
    for alg in ("RS256", "ES256", "EdDSA"):
        assert _ping(brand, alg=alg).status_code == 200, alg
    good = _issue_token(brand)
    bad = {
        "another issuer": _issue_token(brand, iss="https://evil.test/"),
        "no issuer": _issue_token(brand, iss=...),
        "another audience": _issue_token(brand, aud="https://other.example/mcp"),
        "our name without the path": _issue_token(brand, aud=BASE_URL),
        "no audience": _issue_token(brand, aud=...),
        "the dashboard's as well": _issue_token(brand, aud=[f"{BASE_URL}/mcp", "finderfee-dashboard"]),
        "the affiliates' as well": _issue_token(brand, aud=[f"{BASE_URL}/mcp", "finderfee-affiliates"]),
        "expired": _issue_token(brand, exp=1_700_000_000),
        "without an end": _issue_token(brand, exp=...),
        "not yet": _issue_token(brand, nbf=4_000_000_000),
        "no organization": _issue_token(brand, org_id=...),
        "an invalid organization": _issue_token(brand, org_id="x"),
        "an organization that there is not": _issue_token(brand, org_id="0198a2c4-5b1e-7c3d-9f00-1234567890ab"),
        "no role": _issue_token(brand, role=...),
        "a role that there is not": _issue_token(brand, role="Root"),
        "no subject": _issue_token(brand, sub=...),
        "another's signature": _issue_token(brand, signer=forger),
        "signed by nobody": unsigned,
        "changed on the way": good[:-8] + ("AAAAAAAA" if not good.endswith("AAAAAAAA") else "BBBBBBBB"),
        "endless": good + "A" * 9000,
        "of the local issuer": _issue_local_token(brand),
    }
    for name, token in bad.items():
        answer = Agent(Brand(app, brand.id, token, ""), is_modern=False).send("ping")

        assert (answer.status_code, answer.data) == (401, b""), name
        assert answer.headers["WWW-Authenticate"].startswith(f"Bearer {METADATA}"), name


def _issue_local_token(brand) -> str:
    """Return a token as this service would issue it if no provider were configured."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ISSUER", "JWKS"):
            patch.delenv(f"MCP_OAUTH_{name}")
        _clear_caches()
        token = tokens.issue_program(
            organization_id=brand.id, role="Owner", email="x@example.com", scopes=[BOTH], ttl_s=600
        )
    _clear_caches()
    return token


def test_token_is_accepted_only_at_its_own_audience(app, brand, issuer):
    program_id, person = brand.program(), {"org_id": str(brand.id), "role": "Owner", "email": "a@example.com"}
    dashboard = idp.sign_token(idp.private_key("EdDSA"), idp.build_claims(**person, aud="finderfee-dashboard", sid="s"))
    affiliate = idp.sign_token(
        idp.private_key("EdDSA"), idp.build_claims(email=f"{brand.id.hex}@example.com", aud="finderfee-affiliates")
    )
    for token in (dashboard, affiliate):
        answer = Agent(Brand(app, brand.id, token, ""), is_modern=False).send("ping")
        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    agent = _authorize(brand)
    assert Agent(agent).call("get_program", programId=str(program_id))["id"] == str(program_id)
    for method, path in (
        ("GET", "/api/v1/programs"),
        ("GET", f"/api/v1/programs/{program_id}"),
        ("DELETE", f"/api/v1/programs/{program_id}"),
        ("GET", "/api/v1/api-keys"),
        ("GET", "/api/v1/automation/connection"),
        ("GET", "/api/me"),
        ("POST", "/api/tracking/lead"),
        ("GET", "/api/v1/embed/me"),
    ):
        answer = agent.call(method, path, {} if method == "POST" else None)
        assert (answer.status_code, answer.data) == (401, b""), path
        # Values passed within the process cannot be forged by request headers.
        spoofed = agent.call(method, path, {} if method == "POST" else None, finderfee_program="x", **{"Api-Key": "x"})
        assert spoofed.status_code == 401, path


def test_other_tenants_ids_return_not_found(app, brand, rival, issuer):
    rival_program = str(rival.program())
    agent = Agent(_authorize(brand))

    assert agent.get_refusal_code("get_program", programId=rival_program) == "not_found"
    assert agent.get_refusal_code("archive_program", programId=rival_program) == "not_found"
    assert agent.get_refusal_code("update_program", programId=rival_program, description="x") == "not_found"
    token = Agent(_authorize(rival)).call("archive_program", programId=rival_program)["confirmToken"]
    assert (
        agent.get_refusal_code("archive_program", programId=rival_program, confirmToken=token)
        == "confirm_token_invalid"
    )
    assert rival.get(f"/api/v1/programs/{rival_program}").json["archivedAt"] is None


def test_confirmation_token_is_bound_to_its_caller(brand, issuer):
    program_id = str(brand.program())
    key, ann, bob = (
        Agent(caller) for caller in (brand, _authorize(brand), _authorize(brand, sub=f"bob-{brand.id.hex}"))
    )

    of_key, of_ann = (agent.call("archive_program", programId=program_id)["confirmToken"] for agent in (key, ann))
    for agent, token in ((ann, of_key), (key, of_ann), (bob, of_ann)):
        assert (
            agent.get_refusal_code("archive_program", programId=program_id, confirmToken=token)
            == "confirm_token_invalid"
        )
    assert "error" not in ann.call("archive_program", programId=program_id, confirmToken=of_ann)


def test_missing_scope_is_named_in_the_challenge(app, brand, issuer):
    reader = Agent(_authorize(brand, scope="finderfee.read openid"))
    assert {tool["annotations"]["readOnlyHint"] for tool in reader.request_result("tools/list")["tools"]} == {True}
    assert "error" not in reader.call("list_programs")
    answer = reader.send("tools/call", {"name": "create_program", "arguments": {}})
    assert (answer.status_code, answer.json["error"]) == (403, "insufficient_scope")
    assert answer.headers["WWW-Authenticate"] == (
        f'Bearer error="insufficient_scope", scope="finderfee.write", {METADATA}'
    )
    at_readonly = Agent(reader.brand, query="?readonly=1")
    assert at_readonly.get_refusal_code("create_program") == "forbidden"
    for scope in (..., "", "openid", "finderfee.reader", "FINDERFEE.READ", 7, ["finderfee.read"]):
        refused = _ping(brand, scope=scope)
        assert refused.status_code == 403, scope
        assert 'error="insufficient_scope", scope="finderfee.read"' in refused.headers["WWW-Authenticate"], scope
    assert _ping(brand, scope="finderfee.write").status_code == 200


def test_role_and_plan_limits_apply_to_oauth_clients(app, brand, issuer):
    program_id = str(brand.program())
    manager, viewer = Agent(_authorize(brand, role="Manager")), Agent(_authorize(brand, role="Viewer"))
    free = Agent(_authorize(Brand.create(app, plan="Free", status="Active")))

    assert manager.get_refusal_code("archive_program", programId=program_id) == "forbidden"
    assert "error" not in manager.run_tool("update_program", programId=program_id, name="Q")
    assert viewer.get_refusal_code("update_program", programId=program_id, name="R") == "forbidden"
    assert viewer.call("get_home_currency")["canChange"] is False
    assert free.get_refusal_code("list_programs") == "plan_tier_required"
    assert "error" not in free.call("get_organization")


def test_oauth_client_cannot_sign_leads(brand, issuer):
    answer = Agent(_authorize(brand)).get_refusal_code(
        "record_lead", affiliateSlug="ben", email="p@example.com", name="P"
    )

    assert answer == "forbidden"


def test_oauth_client_shares_the_rate_limit_of_its_person(app, brand, issuer, monkeypatch):
    counted = []
    limiter = app.extensions["limiter"]
    monkeypatch.setattr(limiter, "allows", lambda bucket, who: counted.append((bucket, who)) or True)
    person = idp.build_claims(sub=f"ann-{brand.id.hex}", org_id=str(brand.id), role="Owner", aud="finderfee-dashboard")
    Brand(app, brand.id, idp.sign_token(idp.private_key("EdDSA"), person), "").get("/api/v1/programs")
    Agent(_authorize(brand)).call("list_programs")

    assert len(counted) == 2
    assert len(set(counted)) == 1


def test_oauth_token_does_not_change_the_member(app, brand, issuer):
    claims = {"sub": f"ann-{brand.id.hex}", "org_id": str(brand.id), "email": f"a{brand.id.hex}@example.com"}
    person = idp.build_claims(**claims, role="Owner", aud="finderfee-dashboard", email_verified=True)
    Brand(app, brand.id, idp.sign_token(idp.private_key("EdDSA"), person), "").get("/api/v1/programs")
    Agent(_authorize(brand, role="Viewer", email=...)).list_tools()

    rows = brand.rows("select role, email from member where subject = %s", claims["sub"])
    assert rows == [("Owner", claims["email"])]


def test_same_subject_of_another_issuer_is_another_member(app, brand, issuer, monkeypatch):
    monkeypatch.setenv("MCP_OAUTH_ISSUER", "https://agents.example.com/")
    _clear_caches()
    agent = Agent(_authorize(brand, iss="https://agents.example.com/"))

    assert "error" not in agent.call("list_programs")
    assert brand.rows("select subject from member where subject like %s", f"%{brand.id.hex}") == [
        (f"mcp:ann-{brand.id.hex}",)
    ]
    assert _ping(brand).status_code == 401


def test_operator_issues_mcp_tokens_without_a_provider(flask, app, brand):
    def issue_agent(*words):
        token = flask.json("token", "mcp", "--org", str(brand.id), *words)["token"]
        return Agent(Brand(app, brand.id, token, ""))

    writer, reader = issue_agent("--scope", "read_write"), issue_agent("--scope", "read", "--role", "Viewer")
    assert (len(writer.list_tools()), len(reader.list_tools()) < 40) == (61, True)
    answer = reader.send("tools/call", {"name": "create_program", "arguments": {}})
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="finderfee.write"'
    assert writer.brand.get("/api/v1/programs").status_code == 401


def test_operator_issues_no_mcp_tokens_with_a_provider(flask, brand, issuer):
    message = f"Error: The mcp tokens of this installation are issued by {idp.ISSUER}. Next: request one there.\n"

    assert flask("token", "mcp", "--org", str(brand.id), "--scope", "read") == (1, message)
