"""The team of an organization: who may invite, change and remove whom, and that an Owner stays."""

import re
import uuid

import peewee
import pytest

from models import db
from pipelines import mail
from tests.support.api.concurrency import run_concurrently
from tests.support.job_queues import drain
from tests.support.outside.visitor import Visitor
from tests.support.settings_overrides import override_settings

URL = "/api/v1/team"
_ROLES = ("Owner", "Admin", "Manager", "Viewer")


@pytest.fixture
def email():
    return f"bo-{uuid.uuid4().hex}@example.com"


def _invite(caller, email, role="Manager", **headers):
    return caller.post(URL, {"email": email, "role": role}, **headers)


def _team_by_email(brand):
    return {row["email"]: row for row in brand.person("Owner").get(URL).json["items"]}


def _invite_links(email):
    """Return the paths of the links in the invitations to an address, oldest first."""
    drain("mail")
    with db.any_org_work():
        rows = db.db.run(
            "select id from mail_message where recipient = %s and kind = 'team.invite' order by created_at, id",
            (email,),
        )
        texts = [mail.any_org_open(message_id).text for (message_id,) in rows]
    return ["/" + re.search(r"http\S+", text)[0].split("/", 3)[3] for text in texts]


def _member(brand, role, email=None):
    """Add a member and return their id."""
    with db.unit_of_work(brand.id):
        rows = db.db.run(
            "insert into member (id, organization_id, email, role) values (gen_random_uuid(), %s, %s, %s) returning id",
            (brand.id, email or f"{role.lower()}-{uuid.uuid4().hex}@example.com", role),
        )
    return rows[0][0]


def test_invitation_is_listed_mailed_and_audited(brand, email):
    answer = _invite(brand.person("Owner"), email.upper())

    assert answer.status_code == 201
    record = answer.json
    assert (record["email"], record["role"], record["status"]) == (email, "Manager", "Invited")
    assert record["invitedByEmail"] == "owner@example.com"
    assert _team_by_email(brand)[email] == record
    assert len(_invite_links(email)) == 1
    assert brand.rows("select entity_id, actor_label from audit_entry where action = 'team.invited'") == [
        (record["id"], "owner@example.com")
    ]


def test_members_are_listed_with_second_factor_and_keys(brand):
    owner = _team_by_email(brand)["owner@example.com"]

    assert set(owner) == {
        "id", "email", "role", "status", "createdAt", "lastSeenAt", "secondFactor", "activeApiKeys", "invitedByEmail",
        "expiresAt",
    }  # fmt: skip
    assert (owner["status"], owner["secondFactor"], owner["activeApiKeys"]) == ("Active", False, 1)


def test_list_is_paged(brand):
    for _ in range(4):
        _member(brand, "Viewer")
    caller, seen, cursor = brand.person("Owner"), [], ""
    while True:
        page = caller.get(f"{URL}?take=2{cursor}").json
        seen += [row["id"] for row in page["items"]]
        if not page["hasMore"]:
            break
        cursor = f"&cursor={page['nextCursor']}"

    assert len(seen) == len(set(seen)) == 5


@pytest.mark.parametrize("own", _ROLES)
@pytest.mark.parametrize("role", _ROLES)
def test_no_one_invites_above_their_own_role(brand, email, own, role):
    is_allowed = own == "Owner" or (own == "Admin" and role != "Owner")

    assert _invite(brand.person(own), email, role).status_code == (201 if is_allowed else 403)


@pytest.mark.parametrize("own", _ROLES)
@pytest.mark.parametrize("before", _ROLES)
@pytest.mark.parametrize("after", _ROLES)
def test_no_one_changes_or_removes_above_their_own_role(brand, own, before, after):
    member_id, caller = _member(brand, before), brand.person(own)
    may_touch = own == "Owner" or (own == "Admin" and before != "Owner")
    may_give = own == "Owner" or (own == "Admin" and after != "Owner")
    changed = caller.call("PATCH", f"{URL}/{member_id}", {"role": after})

    assert changed.status_code == (200 if may_touch and may_give else 403)
    if changed.status_code == 200:
        assert changed.json["role"] == after
    else:
        assert caller.call("DELETE", f"{URL}/{member_id}").status_code == (204 if may_touch else 403)


def test_keys_cannot_see_or_change_the_team(brand, email):
    member_id = _member(brand, "Viewer")

    assert brand.get(URL).status_code == 403
    assert _invite(brand, email).status_code == 403
    assert brand.call("PATCH", f"{URL}/{member_id}", {"role": "Owner"}).status_code == 403
    assert brand.call("DELETE", f"{URL}/{member_id}").status_code == 403


def test_other_tenants_entries_return_404(brand, rival, email):
    member_id = _member(rival, "Viewer")
    invite_id = _invite(rival.person("Owner"), email).json["id"]
    owner = brand.person("Owner")

    for entry_id in (member_id, invite_id, uuid.uuid4(), "x", "%00", "é" * 300):
        assert owner.call("PATCH", f"{URL}/{entry_id}", {"role": "Owner"}).status_code == 404
        assert owner.call("DELETE", f"{URL}/{entry_id}").status_code == 404
        assert owner.post(f"{URL}/{entry_id}/resend").status_code == 404
    assert email not in _team_by_email(brand)


@pytest.mark.parametrize("address", ["", "bo", "bo@x", "bo\x00@example.com", "x" * 400 + "@example.com", 7, None])
def test_invalid_address_returns_400(brand, address):
    assert _invite(brand.person("Owner"), address).status_code == 400


def test_second_invitation_and_member_return_409(brand, email):
    owner = brand.person("Owner")
    assert _invite(owner, email).status_code == 201

    assert _invite(owner, email, "Viewer").json["error"] == "already_invited"
    assert _invite(owner, "OWNER@example.com").json["error"] == "already_member"


def test_concurrent_invitations_make_one(brand, email):
    people = [brand.person("Owner") for _ in range(6)]
    answers = run_concurrently(*[lambda person=person: _invite(person, email) for person in people])

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409, 409]
    assert len(_invite_links(email)) == 1


def test_repeated_request_invites_once(brand, email):
    owner = brand.person("Owner")
    first, again = (_invite(owner, email, Idempotency_Key="one") for _ in range(2))

    assert (first.status_code, again.status_code, again.json) == (201, 201, first.json)
    assert len(_invite_links(email)) == 1


def test_pending_invitations_are_limited(brand):
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into member_invite select gen_random_uuid(), organization_id, n || '@example.com', 'Viewer',"
            " sha256(n::text::bytea || uuid_send(organization_id)), id, now(), now()"
            " from member, generate_series(1, 50) n returning 1"
        )

    assert _invite(brand.person("Owner"), "more@example.com").json["error"] == "pending_invites_limit_reached"


def test_resent_invitation_has_a_new_link_and_the_former_is_invalid(app, brand, email):
    owner = brand.person("Owner")
    invite_id = _invite(owner, email).json["id"]
    brand.rows("update member_invite set expires_at = now() returning 1")
    assert _team_by_email(brand)[email]["status"] == "Expired"

    assert owner.post(f"{URL}/{invite_id}/resend").json["status"] == "Invited"
    former, current = _invite_links(email)
    assert Visitor(app).open(former).status_code == 410
    assert Visitor(app).open(current).status_code == 200


def test_revoked_invitation_is_invalid(app, brand, email):
    owner = brand.person("Owner")
    invite_id = _invite(owner, email).json["id"]

    assert owner.call("DELETE", f"{URL}/{invite_id}").status_code == 204
    assert Visitor(app).open(_invite_links(email)[0]).status_code == 410
    assert email not in _team_by_email(brand)


def test_no_one_revokes_an_invitation_above_their_own_role(brand, email):
    invite_id = _invite(brand.person("Owner"), email, "Owner").json["id"]
    answer = brand.person("Admin").call("DELETE", f"{URL}/{invite_id}")

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert _team_by_email(brand)[email]["status"] == "Invited"


def test_change_applies_to_all_rows_of_a_person(app, brand, email):
    ids = _add_rows_of_two_providers(brand, "Admin", email)
    owner = brand.person("Owner")
    assert owner.call("PATCH", f"{URL}/{ids[0]}", {"role": "Viewer"}).status_code == 200
    assert brand.rows("select distinct role from member where email = %s", email) == [("Viewer",)]

    assert owner.call("DELETE", f"{URL}/{ids[1]}").status_code == 204
    assert brand.rows("select 1 from member where email = %s and removed_at is null", email) == []


@pytest.mark.parametrize("change", ["PATCH", "DELETE"])
def test_two_rows_of_the_only_owner_are_one_owner(brand, email, change):
    ids = _add_rows_of_two_providers(brand, "Owner", email)
    brand.rows("update member set role = 'Admin' where email <> %s returning 1", email)
    answer = brand.person("Owner", email=email).call(change, f"{URL}/{ids[1]}", {"role": "Viewer"})

    assert (answer.status_code, answer.json["error"]) == (409, "last_owner")
    owners = brand.rows("select id from member where role = 'Owner' and removed_at is null")
    assert {(row_id,) for row_id in ids} <= set(owners)


def _add_rows_of_two_providers(brand, role, email):
    """Add the rows of one person to whom a second identity provider gave another subject, and return their ids."""
    ids = []
    for provider in ("old", "new"):
        ids.append(_member(brand, role, email))
        brand.rows("update member set subject = %s where id = %s returning 1", f"{provider}-{email}", ids[-1])
    return ids


def test_invitations_of_a_removed_admin_end(app, brand, email):
    admin_id = _member(brand, "Admin", "mallory@example.com")
    _invite(brand.person("Admin", email="mallory@example.com"), email, "Admin")
    brand.person("Owner").call("DELETE", f"{URL}/{admin_id}")

    assert Visitor(app).open(_invite_links(email)[0]).status_code == 410


def test_invitations_above_a_lowered_role_end(app, brand, email):
    admin_id = _member(brand, "Admin", "mallory@example.com")
    _invite(brand.person("Admin", email="mallory@example.com"), email, "Admin")
    brand.person("Owner").call("PATCH", f"{URL}/{admin_id}", {"role": "Manager"})

    assert Visitor(app).open(_invite_links(email)[0]).status_code == 410


@pytest.mark.parametrize("change", ["PATCH", "DELETE"])
def test_last_owner_stays(brand, change):
    owner = brand.person("Owner")
    owner_id = _team_by_email(brand)["owner@example.com"]["id"]
    answer = owner.call(change, f"{URL}/{owner_id}", {"role": "Admin"} if change == "PATCH" else None)

    assert (answer.status_code, answer.json["error"]) == (409, "last_owner")
    assert _team_by_email(brand)["owner@example.com"]["role"] == "Owner"


def test_two_owners_who_remove_each_other_leave_one(brand):
    ids = {email: _member(brand, "Owner", email) for email in ("ann@example.com", "ben@example.com")}
    brand.rows("delete from api_key returning 1")
    brand.rows("delete from member where email = 'owner@example.com' returning 1")
    ann, ben = (brand.person("Owner", email=email) for email in ids)
    answers = run_concurrently(
        lambda: ann.call("DELETE", f"{URL}/{ids['ben@example.com']}"),
        lambda: ben.call("DELETE", f"{URL}/{ids['ann@example.com']}"),
    )

    assert sorted(answer.status_code for answer in answers) in ([204, 401], [204, 403], [204, 409])
    assert len(brand.rows("select 1 from member where role = 'Owner' and removed_at is null")) == 1


def test_database_refuses_a_team_without_an_owner(brand):
    statement = "update member set removed_at = now(), access_changed_at = now() returning 1"
    with pytest.raises(peewee.PeeweeException, match="last Owner"), db.unit_of_work(brand.id):
        db.db.run(statement)


def test_role_change_applies_to_open_sessions_and_ends_older_tokens(app, brand, flask):
    browser = Visitor(app)
    browser.open(
        flask.json("sign-in", "owner", "--org", brand.id, "--role", "Admin", "--email", "ada@example.com")["url"]
    )
    token = brand.person("Admin", email="ada@example.com")
    assert token.get(URL).status_code == 200
    ada_id = _team_by_email(brand)["ada@example.com"]["id"]
    brand.person("Owner").call("PATCH", f"{URL}/{ada_id}", {"role": "Viewer"})

    assert token.get(URL).status_code == 401
    page = browser.open("/dashboard/settings/team").text
    assert "Invite a member" not in page
    assert brand.rows("select role from web_session where email = 'ada@example.com'") == [("Viewer",)]


def test_api_keys_of_a_removed_member_stay_unless_they_are_revoked(brand):
    for query, is_active in (("", True), ("?revokeApiKeys=true", False)):
        member_id = _member(brand, "Admin", "ada@example.com")
        created = brand.person("Admin", email="ada@example.com").post("/api/v1/api-keys", {"name": "server"}).json
        brand.person("Owner").call("DELETE", f"{URL}/{member_id}{query}")

        assert (brand.rows("select revoked_at from api_key where id = %s", created["id"])[0][0] is None) == is_active
        brand.rows("delete from api_key where id = %s returning 1", created["id"])
        brand.rows("delete from member where id = %s returning 1", member_id)


def test_identity_provider_manages_the_team_instead(brand, email, monkeypatch):
    owner, member_id = brand.person("Owner"), _member(brand, "Viewer")
    owner.get(URL)
    override_settings(monkeypatch, identity={"dashboard_issuer": "https://id.example", "dashboard_jwks": "keys.json"})

    answers = [
        _invite(owner, email),
        owner.call("PATCH", f"{URL}/{member_id}", {"role": "Owner"}),
        owner.call("DELETE", f"{URL}/{member_id}"),
    ]
    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [
        (409, "managed_by_identity_provider")
    ] * 3


def test_old_login_cannot_invite_or_promote(app, brand, flask, email):
    browser = Visitor(app)
    browser.open(flask.json("sign-in", "owner", "--org", brand.id, "--email", "ada@example.com")["url"])
    with db.any_org_work():
        db.db.run(
            "update web_session set signed_in_at = now() - interval '2 hours'"
            " where email = 'ada@example.com' returning 1"
        )
    answer = browser.send("/dashboard/settings/team", {"email": email, "role": "Viewer"})

    assert answer.headers["Location"].startswith("/sign-in?next=")
    assert email not in _team_by_email(brand)
