"""Invites on the dashboard: sent one by one or in bulk, resent, revoked."""

import re

import pytest

_HERE = "/dashboard/invites"


@pytest.fixture
def program(brand):
    return str(brand.program(name="Knives"))


@pytest.fixture
def create_invite(brand, program):
    """Return a function that creates an invite through the API and returns its id."""

    def make(email, **fields):
        answer = brand.post("/api/affiliate-invites", {"programId": program, "email": email, **fields})
        assert answer.status_code == 201, answer.text
        return answer.json["invite"]["id"]

    return make


def _invites(brand):
    invites = brand.person("Owner").get("/api/affiliate-invites").json["items"]
    return {invite["email"]: invite for invite in invites}


def _invalid_fields(answer):
    return re.findall(r'<(?:input|select|textarea) id="([^"]+)"[^>]*aria-invalid="true"', answer.text)


def test_empty_invite_list_shows_the_next_step(people):
    html = people().open(_HERE).text

    assert "No invites yet" in html
    assert 'href="/dashboard/programs/new"' in html
    assert 'method="post" action="/dashboard/invites"' not in html


def test_new_invite_shows_its_link_once(brand, people, program):
    visitor = people("Manager")
    form = {
        "do": "one",
        "programId": program,
        "email": " ina@example.com ",
        "fullName": "Ina <b>",
        "slug": "ina",
        "customCommissionType": "Percentage",
        "customCommissionValue": "30",
        "note": "Hello & welcome\r\n<b>Ada</b>",
        "autoApprove": "on",
        "_key": "one-and-the-same-key",
    }
    html = visitor.send(_HERE, form).text
    again = visitor.send(_HERE, form).text

    link = re.search(r'<input id="their-link" value="([^"]+)" readonly>', html)[1]
    assert "/invites/" in link
    assert link in again
    (invite,) = _invites(brand).values()
    assert (invite["email"], invite["fullName"], invite["slug"]) == ("ina@example.com", "Ina <b>", "ina")
    assert (invite["customCommissionType"], invite["customCommissionValue"]) == ("Percentage", 30)
    assert invite["personalNoteHtml"] == "<p>Hello &amp; welcome<br>&lt;b&gt;Ada&lt;/b&gt;</p>"
    list_html = visitor.open(_HERE).text
    assert link not in list_html
    assert "Ina &lt;b&gt;" in list_html
    assert '<span class="chip wait">Pending</span>' in list_html


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"email": "ina"}, "one-email"),
        ({"email": ""}, "one-email"),
        ({"slug": "A B"}, "one-slug"),
        ({"fullName": "x" * 201}, "one-fullName"),
        ({"customCommissionType": "Fixed"}, "one-customCommissionValue"),
        ({"customCommissionType": "Percentage", "customCommissionValue": "101"}, "one-customCommissionValue"),
    ],
    ids=str,
)
def test_error_of_a_single_invite_is_shown_at_its_field(brand, people, program, wrong, field):
    form = {
        "do": "one",
        "programId": program,
        "email": "ina@example.com",
        "fullName": "Ina",
        "customCommissionValue": "",
    }
    answer = people().send(_HERE, form | wrong)

    assert answer.status_code == 400
    assert _invalid_fields(answer) == [field]
    assert _invites(brand) == {}


def test_bulk_invite_reports_slug_conflicts(brand, people, program):
    brand.affiliate("ben")
    ann = f"ann-{brand.id.hex}"
    recipients = [f"a@example.com, Ann, {ann}", "", "b@example.com,,ben", f"c@example.com,C,{ann}", "a@example.com"]
    lines = "\r\n".join([*recipients, "d@example.com"])
    html = people("Manager").send(_HERE, {"do": "many", "programId": program, "recipients": lines}).text

    assert "4 invites are being sent." in html
    assert "One was skipped" in html
    conflicts = html.partition('aria-label="Unavailable link names"')[2].partition("</table>")[0]
    assert "b@example.com" in conflicts
    assert "already taken" in conflicts
    assert "used twice in this list" in conflicts
    invites = _invites(brand)
    assert {email: (invite["fullName"], invite["slug"]) for email, invite in invites.items()} == {
        "a@example.com": ("Ann", ann),
        "b@example.com": ("", None),
        "c@example.com": ("C", None),
        "d@example.com": ("", None),
    }
    assert not any(invite["autoApprove"] for invite in invites.values())


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a@example.com\n\nnobody", "Line 3: "),
        ("", "1 to 50 recipients"),
        ("\n".join(f"a{number}@example.com" for number in range(51)), "1 to 50 recipients"),
    ],
)
def test_wrong_line_is_named_and_no_invite_is_sent(brand, people, program, lines, message):
    answer = people().send(_HERE, {"do": "many", "programId": program, "recipients": lines})

    assert answer.status_code == 400
    assert _invalid_fields(answer) == ["many-recipients"]
    assert message in answer.text
    assert _invites(brand) == {}


def test_invite_is_resent_with_a_new_link_and_revoked(brand, people, create_invite):
    invite = create_invite("ina@example.com")
    visitor = people("Manager")

    resent = visitor.send(_HERE, {"do": "again", "invite": invite})
    assert re.search(r'<input id="their-link" value="[^"]+/invites/[^"]+" readonly>', resent.text)

    revoked = visitor.send(_HERE, {"do": "revoke", "invite": invite})
    assert (revoked.status_code, revoked.headers["Location"]) == (303, _HERE)
    assert _invites(brand)["ina@example.com"]["state"] == "Revoked"
    refused = visitor.send(_HERE, {"do": "again", "invite": invite})
    assert refused.status_code == 409
    assert 'role="alert"' in refused.text


def test_filter_is_in_the_address(brand, people, create_invite):
    first, _ = create_invite("ina@example.com"), create_invite("bo@example.com")
    visitor = people()
    visitor.send(_HERE, {"do": "revoke", "invite": first})

    def list_emails(query):
        table = visitor.open(f"{_HERE}{query}").text.partition('<table aria-label="Invites" role="table">')[2]
        return re.findall(r'<th scope="row" role="rowheader">([^<]+)', table)

    assert list_emails("?state=Revoked") == ["ina@example.com"]
    assert list_emails("?state=Pending") == ["bo@example.com"]
    assert list_emails(f"?program={brand.program(name='Other')}") == []
    assert "No invite matches this filter." in visitor.open(f"{_HERE}?state=Accepted").text


def test_viewer_sees_invites_and_cannot_send_any(brand, people, program, create_invite):
    invite = create_invite("ina@example.com")
    visitor = people("Viewer")
    html = visitor.open(_HERE).text

    assert "ina@example.com" in html
    assert 'method="post" action="/dashboard/invites"' not in html
    for form in (
        {"do": "one", "programId": program, "email": "bo@example.com"},
        {"do": "many", "programId": program, "recipients": "bo@example.com"},
        {"do": "again", "invite": invite},
        {"do": "revoke", "invite": invite},
    ):
        assert visitor.send(_HERE, form).status_code == 403
    assert {email: invite_row["state"] for email, invite_row in _invites(brand).items()} == {
        "ina@example.com": "Pending"
    }


def test_another_brands_invite_and_program_return_404(rival, people, program):
    rivals_program = str(rival.program())
    body = {"programId": rivals_program, "email": "ina@example.com"}
    invite = rival.post("/api/affiliate-invites", body).json["invite"]["id"]
    visitor = people()

    for invite_id in (invite, "x", ""):
        assert visitor.send(_HERE, {"do": "again", "invite": invite_id}).status_code == 404
        assert visitor.send(_HERE, {"do": "revoke", "invite": invite_id}).status_code == 404
    assert visitor.send(_HERE, {"do": "one", **body}).status_code == 400


def test_form_with_an_unknown_action_shows_the_page(people):
    assert people().send(_HERE, {"do": "nothing"}).status_code == 200
