"""The settings of a brand: each card by itself, settings about money after a fresh login, and the team."""

import io
import re

import pytest

from models import db
from tests.support.outside.visitor import Visitor
from tests.support.rows.images import png

_HERE = "/dashboard/settings"
_PROFILE = {"name": "Brand", "timezone": "UTC"}
_PAYOUTS = {
    "payoutGraceDays": "30",
    "minPayoutCents": "",
    "automaticPayoutCadence": "Manual",
    "commissionBasis": "gross",
    "selfReferrals": "earn",
}


@pytest.fixture
def owner(people):
    return people("Owner")


def _age_login():
    with db.any_org_work():
        db.db.run("update web_session set signed_in_at = now() - interval '2 hours' where email = 'owner@example.com'")


def test_profile_is_changed_and_shown(owner, brand):
    answer = owner.send(f"{_HERE}/profile", _PROFILE | {"name": "Acme <b>", "primaryBrandColor": "#0A6847"})

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{_HERE}?done=profile")
    html = owner.open(f"{_HERE}?done=profile").text
    assert 'value="Acme &lt;b&gt;"' in html
    assert 'value="#0a6847"' in html
    assert ">Saved.<" in html
    assert brand.rows("select name from organization where id = %s", brand.id) == [("Acme <b>",)]


def test_error_is_shown_at_its_field(owner):
    answer = owner.send(f"{_HERE}/profile", _PROFILE | {"timezone": "Mars/Olympus", "description": "kept"})

    assert answer.status_code == 400
    assert 'id="profile-timezone-error"' in answer.text
    assert 'value="Mars/Olympus"' in answer.text
    assert "kept</textarea>" in answer.text
    assert "<title>Error:" in answer.text


def test_holds_and_minimum_payout_need_no_fresh_login(owner, brand):
    _age_login()
    answer = owner.send(f"{_HERE}/payouts", _PAYOUTS | {"payoutGraceDays": "14", "minPayoutCents": "25.50"})

    assert answer.status_code == 303
    assert brand.rows("select payout_grace_days, min_payout_cents from organization where id = %s", brand.id) == [
        (14, 2_550)
    ]


def test_automatic_payouts_need_a_fresh_login_and_keep_the_form(owner, brand, links):
    _age_login()
    typed = _PAYOUTS | {"automaticPayoutEnabled": "on", "automaticPayoutCadence": "Weekly", "_page": _HERE}
    answer = owner.send(f"{_HERE}/payouts", typed)
    assert answer.headers["Location"] == "/sign-in?next=%2Fdashboard%2Fsettings"

    owner.open(links("owner"))
    html = owner.open(_HERE).text
    assert re.search('name="automaticPayoutEnabled" value="on"[^>]* checked', html)
    assert '<option value="Weekly" selected>' in html
    owner.send(f"{_HERE}/payouts", typed)
    assert brand.rows("select automatic_payout_enabled from organization where id = %s", brand.id) == [(True,)]


def test_currency_and_parameters_are_changed(owner, brand):
    assert owner.send(f"{_HERE}/currency", {"homeCurrency": "EUR"}).status_code == 303
    assert owner.send(f"{_HERE}/attribution", {"custom": "partner_code"}).status_code == 303
    assert owner.send(f"{_HERE}/attribution", {"custom": "no spaces here"}).status_code == 400
    html = owner.open(_HERE).text

    assert '<option value="EUR" selected>' in html
    assert 'value="partner_code"' in html


def test_logo_is_stored_and_removed(owner):
    picture = {"logo": (io.BytesIO(png(64, 32)), "logo.png")}
    headers = {"Sec-Fetch-Site": "same-origin"}
    assert owner.client.post(f"{_HERE}/logo", data=picture, headers=headers).status_code == 303
    assert '<img class="logo" src="/' in owner.open(_HERE).text
    assert owner.send(f"{_HERE}/logo/delete").status_code == 303
    assert '<img class="logo"' not in owner.open(_HERE).text

    wrong = {"logo": (io.BytesIO(b"no image"), "logo.png")}
    assert owner.client.post(f"{_HERE}/logo", data=wrong, headers=headers).status_code == 400
    assert owner.send(f"{_HERE}/logo").status_code == 422


def test_owner_ends_a_members_sessions(app, owner, links, brand):
    other = Visitor(app)
    other.open(links("owner", "--role", "Manager", "--email", "ada@example.com"), User_Agent="Netscape")
    html = owner.open(_HERE).text
    assert "Netscape" in html
    ((member_id,),) = brand.rows("select id from member where email = 'ada@example.com'")

    assert owner.send(f"{_HERE}/team/{member_id}").status_code == 303
    assert other.open("/dashboard").status_code == 303
    assert owner.open("/dashboard").status_code == 200


def test_viewer_reads_settings_without_forms(people):
    answer = people("Viewer").open(_HERE)

    assert answer.status_code == 200
    assert "Save" not in answer.text
    assert "Sign out everywhere" in answer.text
    assert '<h2 id="team">' not in answer.text


def test_viewers_form_changes_nothing(people, brand):
    visitor = people("Viewer")
    forms = {
        "profile": _PROFILE,
        "currency": {"homeCurrency": "EUR"},
        "attribution": {"custom": "x_y"},
        "logo/delete": {},
    }

    for card, form in forms.items():
        assert visitor.send(f"{_HERE}/{card}", form | {"name": "Mine"}).status_code == 403
    assert brand.rows("select name, home_currency from organization where id = %s", brand.id) == [("Brand", "USD")]
