"""Members of an organization and their browser sessions."""

import pytest

from tests.support.outside.visitor import Visitor

URL = "/api/v1/members"


@pytest.fixture
def ada(app, flask, brand):
    """Return the browser of a Manager who has signed in."""
    visitor = Visitor(app)
    link = flask.json("sign-in", "owner", "--org", brand.id, "--role", "Manager", "--email", "ada@example.com")
    visitor.open(link["url"], User_Agent="Netscape")
    return visitor


def _list_members_by_email(brand):
    return {member["email"]: member for member in brand.person("Owner").get(URL).json}


def _end_sessions(brand, member_id, role="Owner"):
    return brand.person(role).call("DELETE", f"{URL}/{member_id}/sessions")


def test_members_are_listed_with_their_sessions(brand, ada):
    members = _list_members_by_email(brand)

    assert list(members) == ["owner@example.com", "ada@example.com"]
    member = members["ada@example.com"]
    assert (member["role"], member["hasSignedIn"]) == ("Manager", True)
    (session,) = member["sessions"]
    assert session["userAgent"] == "Netscape"
    assert session["signedInAt"] < session["expiresAt"]
    assert ada.cookie not in str(members)
    assert members["owner@example.com"]["sessions"] == []


def test_member_without_a_sign_in_is_listed(brand):
    by_role = {member["role"]: member["hasSignedIn"] for member in brand.person("Admin").get(URL).json}

    assert by_role == {"Owner": False, "Admin": True}


def test_ending_sessions_is_immediate_and_audited(brand, ada):
    ada_id = _list_members_by_email(brand)["ada@example.com"]["id"]
    answer = _end_sessions(brand, ada_id)

    assert (answer.status_code, answer.json) == (200, {"ended": 1})
    assert ada.open("/dashboard").status_code == 303
    assert _list_members_by_email(brand)["ada@example.com"]["sessions"] == []
    assert brand.rows("select entity_id, after from audit_entry where action = 'member.signed_out'") == [
        (ada_id, {"sessions": 1})
    ]
    assert _end_sessions(brand, ada_id).json == {"ended": 0}


def test_sessions_at_another_brand_continue(app, flask, brand, rival, ada):
    browser = Visitor(app)
    browser.open(flask.json("sign-in", "owner", "--org", rival.id, "--email", "ada@example.com")["url"])
    _end_sessions(brand, _list_members_by_email(brand)["ada@example.com"]["id"])

    assert browser.open("/dashboard").status_code == 200


def test_other_tenants_members_are_not_visible(brand, rival, ada):
    ada_id = _list_members_by_email(brand)["ada@example.com"]["id"]

    assert "ada@example.com" not in _list_members_by_email(rival)
    assert _end_sessions(rival, ada_id).status_code == 404
    assert ada.open("/dashboard").status_code == 200


@pytest.mark.parametrize("member_id", ["01890000-0000-7000-8000-000000000000", "x", "0", "%00", "é" * 300])
def test_unknown_member_returns_404(brand, member_id):
    assert _end_sessions(brand, member_id).status_code == 404


@pytest.mark.parametrize(("role", "status"), [("Viewer", 403), ("Manager", 403), ("Admin", 200)])
def test_only_admins_list_members_and_only_owners_end_sessions(brand, ada, role, status):
    assert brand.person(role).get(URL).status_code == status
    assert _end_sessions(brand, _list_members_by_email(brand)["ada@example.com"]["id"], role).status_code == 403
    assert brand.get(URL).status_code == 403
