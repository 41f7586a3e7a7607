"""Web sessions: the cookie, the pages that it opens, and its end."""

import time

import pytest

from adapters.identity import tokens
from api.access import callers, persons, unknown_senders
from models import db
from tests.support.outside.visitor import Visitor
from tests.support.settings_overrides import override_settings


def _age_sessions(column, interval):
    with db.any_org_work():
        db.db.run(f"update web_session set {column} = now() - interval '{interval}'")


@pytest.fixture
def owner(visitor, links):
    visitor.open(links("owner", "--email", "ada@example.com"))
    return visitor


def test_cookie_is_httponly_and_same_site(visitor, links):
    (cookie,) = visitor.open(links("owner")).headers.getlist("Set-Cookie")

    parts = {part.strip().partition("=")[0] for part in cookie.split(";")[1:]}
    assert cookie.startswith("finderfee=")
    assert parts == {"Expires", "Max-Age", "HttpOnly", "Path", "SameSite"}
    assert "SameSite=Lax" in cookie


def test_https_cookie_uses_the_host_prefix(visitor, links, monkeypatch):
    url = links("owner")
    override_settings(monkeypatch, web={"public_base_url": "https://app.example.com"})
    (cookie,) = visitor.open(url).headers.getlist("Set-Cookie")

    assert cookie.startswith("__Host-finderfee=")
    assert "; Secure" in cookie
    assert "Domain" not in cookie


def test_only_the_hash_of_the_cookie_is_stored(owner, brand):
    with db.any_org_work():
        rows = db.db.run("select s::text from web_session s where organization_id = %s", (brand.id,))

    assert len(owner.cookie) >= 43
    assert len(rows) == 1
    assert owner.cookie not in rows[0][0]


@pytest.mark.parametrize(("column", "interval"), [("expires_at", "1 second"), ("seen_at", "12 hours 1 minute")])
def test_session_ends_by_age_and_by_inactivity(owner, column, interval):
    _age_sessions(column, interval)
    answer = owner.open("/dashboard")

    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?next=%2Fdashboard")


def test_used_session_is_renewed(owner):
    _age_sessions("seen_at", "11 hours")
    assert owner.open("/dashboard").status_code == 200
    with db.any_org_work():
        renewed = db.db.run("select seen_at > now() - interval '1 minute' from web_session")

    assert (True,) in renewed


def test_sign_out_ends_only_this_session(owner, links):
    other = Visitor(owner.client.application)
    other.open(links("owner", "--email", "ada@example.com"))
    cookie = owner.cookie

    answer = owner.send("/sign-out")
    assert (answer.status_code, answer.headers["Location"], owner.cookie) == (303, "/sign-in", None)
    owner.client.set_cookie("finderfee", cookie)
    assert owner.open("/dashboard").status_code == 303
    assert other.open("/dashboard").status_code == 200


def test_sign_out_everywhere_ends_all_sessions_of_the_person(owner, links):
    same_person, other_person = Visitor(owner.client.application), Visitor(owner.client.application)
    same_person.open(links("owner", "--email", "ada@example.com"))
    other_person.open(links("owner", "--email", "bo@example.com"))

    owner.send("/sign-out", {"everywhere": "1"})

    assert same_person.open("/dashboard").status_code == 303
    assert other_person.open("/dashboard").status_code == 200


def test_new_link_replaces_the_browsers_session(owner, links):
    before = owner.cookie
    owner.open(links("operator"))

    assert owner.cookie != before
    owner.client.set_cookie("finderfee", before)
    assert owner.open("/dashboard").status_code == 303


def test_role_change_ends_the_persons_older_sessions(owner, links, rival):
    elsewhere, viewer = Visitor(owner.client.application), Visitor(owner.client.application)
    elsewhere.open(links("owner", "--org", rival.id, "--email", "ada@example.com"))
    viewer.open(links("owner", "--role", "Viewer", "--email", "ada@example.com"))

    assert owner.open("/dashboard").status_code == 303
    assert ">Viewer<" in viewer.open("/dashboard").text
    assert elsewhere.open("/dashboard").status_code == 200


def test_remote_change_takes_effect_within_the_key_cache_time(owner, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 5})
    assert owner.open("/dashboard").status_code == 200
    with db.any_org_work():  # like another process
        db.db.run("delete from web_session where email = 'ada@example.com'")

    began = time.monotonic()
    monkeypatch.setattr(callers.time, "monotonic", lambda: began + 5.1)
    assert owner.open("/dashboard").status_code == 303


def test_cached_session_needs_no_query(owner, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 60})
    owner.open("/dashboard")
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        assert owner.open("/sign-in").status_code == 200
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert trips == []


def test_cookie_guessing_does_not_block_known_sessions(owner, links, monkeypatch):
    assert owner.open("/dashboard").status_code == 200
    newcomer = Visitor(owner.client.application)
    newcomer.open(links("operator"))
    monkeypatch.setattr(unknown_senders, "is_blocked", lambda: True)

    assert owner.open("/dashboard").status_code == 200
    assert newcomer.open("/console").status_code == 303


def test_configured_provider_replaces_links(owner, flask, brand, monkeypatch):
    def refuse(kind):
        raise tokens.NotLocal(f"ask the {kind}'s provider")

    monkeypatch.setattr(tokens, "check_local", refuse)

    assert owner.open("/dashboard").status_code == 303
    assert flask("sign-in", "owner", "--org", brand.id)[0] == 1
    assert flask("sign-in", "operator")[0] == 0


def test_session_cookie_is_no_api_credential(app, owner):
    accepted = []
    for rule in app.url_map.iter_rules():
        operation = app.view_functions[rule.endpoint].operation
        if operation.guard.audience == "public":
            continue
        path = rule.rule.replace("<", "").replace(">", "")
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            headers = {"Sec-Fetch-Site": "same-origin", persons.ENVIRON_KEY: "ada@example.com"}
            answer = owner.client.open(path, method=method, headers=headers)
            accepted += [f"{method} {path}"] if answer.status_code != 401 else []

    assert accepted == []


def test_sign_ins_are_in_the_audit_log(owner, brand):
    owner.send("/sign-out")
    entries = brand.rows(
        "select action, actor_type, actor_label from audit_entry where entity_type = 'session' order by created_at, id"
    )
    ids = brand.rows("select actor_user_id is not null from audit_entry where action = 'session.began'")

    assert entries == [
        ("session.link_issued", "operator", "flask"),
        ("session.began", "member", "ada@example.com"),
        ("session.ended", "member", "ada@example.com"),
    ]
    assert ids == [(True,)]


def test_next_sign_in_deletes_expired_sessions_and_links(owner, links, brand):
    with db.any_org_work():  # only a few are deleted at a time; expired rows of other tests would come first
        db.db.run("delete from web_session where organization_id is distinct from %s returning 1", (brand.id,))
        db.db.run("delete from sign_in_link returning 1")
    _age_sessions("expires_at", "1 day")
    links("owner", "--email", "never@example.com")
    with db.any_org_work():
        db.db.run("update sign_in_link set expires_at = now() - interval '1 day'")
    Visitor(owner.client.application).open(links("operator"))
    with db.any_org_work():
        expired = db.db.run(
            "select email from web_session where expires_at < now() union all"
            " select email from sign_in_link where expires_at < now()"
        )

    assert expired == []
