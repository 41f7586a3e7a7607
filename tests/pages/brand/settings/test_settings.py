"""The settings of a brand: a page for each subject, and settings about money after a fresh login."""

import io
import re
from urllib.parse import urlencode

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
_PAGES = ("profile", "brand", "team", "security", "tracking", "payouts", "developers", "notifications")


@pytest.fixture
def owner(people):
    return people("Owner")


def _age_login():
    with db.any_org_work():
        db.db.run("update web_session set signed_in_at = now() - interval '2 hours' where email = 'owner@example.com'")


def test_index_and_every_page_link_to_every_page(owner):
    for path in (_HERE, *(f"{_HERE}/{page}" for page in ("profile", "brand", "tracking", "payouts", "developers"))):
        html = owner.open(path).text.partition("<main")[2]

        assert [page for page in _PAGES if f'href="{_HERE}/{page}"' not in html] == [], path
        if path != _HERE:
            assert f'<a href="{path}" aria-current="page">' in html


def test_profile_is_changed_and_shown(owner, brand):
    answer = owner.send(f"{_HERE}/profile", _PROFILE | {"name": "Acme <b>", "billingEmail": "ada@acme.example"})

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{_HERE}/profile?done=saved")
    html = owner.open(f"{_HERE}/profile?done=saved").text
    assert 'value="Acme &lt;b&gt;"' in html
    assert 'value="ada@acme.example"' in html
    assert ">Saved.<" in html
    assert brand.rows("select name from organization where id = %s", brand.id) == [("Acme <b>",)]


def test_error_is_shown_at_its_field(owner):
    answer = owner.send(f"{_HERE}/profile", _PROFILE | {"timezone": "Mars/Olympus", "description": "kept"})

    assert answer.status_code == 400
    assert 'id="timezone-error"' in answer.text
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


def test_minimum_of_a_former_home_currency_stays_until_another_is_typed(owner, brand):
    owner.send(f"{_HERE}/payouts", _PAYOUTS | {"minPayoutCents": "25"})
    owner.send(f"{_HERE}/payouts/currency", {"homeCurrency": "JPY"})
    html = owner.open(f"{_HERE}/payouts").text
    assert "Minimum payout (JPY)" in html
    assert "The minimum is 25.00 USD. Leave empty to keep it." in html
    stored = "select payout_grace_days, min_payout_cents, min_payout_currency from organization where id = %s"

    owner.send(f"{_HERE}/payouts", _PAYOUTS | {"payoutGraceDays": "14"})
    assert brand.rows(stored, brand.id) == [(14, 2_500, "USD")]
    owner.send(f"{_HERE}/payouts", _PAYOUTS | {"minPayoutCents": "2500"})
    assert brand.rows(stored, brand.id) == [(30, 2_500, "JPY")]
    assert 'value="2500"' in owner.open(f"{_HERE}/payouts").text


@pytest.mark.parametrize(
    ("page", "values", "message"),
    [
        ("payouts", _PAYOUTS | {"minPayoutCents": "lots"}, "Enter an amount, such as 25.00."),
        ("payouts", _PAYOUTS | {"minPayoutCents": "1.234"}, "Enter an amount, such as 25.00."),
        ("payouts", _PAYOUTS | {"payoutGraceDays": "91"}, "It must be from 0 to 90 days."),
        ("payouts", _PAYOUTS | {"payoutGraceDays": "soon"}, "Enter a whole number."),
        ("payouts/currency", {"homeCurrency": "XXX"}, "It must be a supported ISO 4217 code."),
        ("notifications/large-sales", {"largeSaleCents": "lots"}, "Enter an amount, such as 25.00."),
        ("brand", {"primaryBrandColor": "red"}, "It must be a colour such as #1a2b3c."),
    ],
)
def test_error_at_a_field_is_worded_for_people(owner, page, values, message):
    answer = owner.send(f"{_HERE}/{page}", values)

    assert answer.status_code == 400
    assert message in answer.text
    assert f">{message}" in re.search(r'id="[^"]+-error"[^>]*>[^<]*', answer.text)[0]


def test_automatic_payouts_need_a_fresh_login_and_keep_the_form(owner, brand, links):
    _age_login()
    typed = _PAYOUTS | {"automaticPayoutEnabled": "on", "automaticPayoutCadence": "Weekly"}
    answer = owner.send(f"{_HERE}/payouts", typed)
    assert answer.headers["Location"] == "/sign-in?next=%2Fdashboard%2Fsettings%2Fpayouts"

    owner.open(links("owner"))
    html = owner.open(f"{_HERE}/payouts").text
    assert re.search('name="automaticPayoutEnabled" value="on"[^>]* checked', html)
    assert '<option value="Weekly" selected>' in html
    owner.send(f"{_HERE}/payouts", typed)
    assert brand.rows("select automatic_payout_enabled from organization where id = %s", brand.id) == [(True,)]


def test_currency_and_parameters_are_changed(owner):
    assert owner.send(f"{_HERE}/payouts/currency", {"homeCurrency": "EUR"}).status_code == 303
    assert '<option value="EUR" selected>' in owner.open(f"{_HERE}/payouts").text

    assert owner.send(f"{_HERE}/tracking", {"custom": "partner_code"}).status_code == 303
    assert 'value="partner_code"' in owner.open(f"{_HERE}/tracking").text
    refused = owner.send(f"{_HERE}/tracking", {"custom": "no spaces here"})
    assert (refused.status_code, 'value="no spaces here"' in refused.text) == (400, True)


def test_refused_currency_keeps_the_payout_settings(owner, brand):
    brand.set(payoutGraceDays="21")
    refused = owner.send(f"{_HERE}/payouts/currency", {"homeCurrency": "XXX"})

    assert refused.status_code == 400
    assert 'id="currency-homeCurrency-error"' in refused.text
    assert re.search('name="payoutGraceDays" type="text" value="21"', refused.text)


def test_logo_is_stored_and_removed(owner):
    picture = {"logo": (io.BytesIO(png(64, 32)), "logo.png")}
    headers = {"Sec-Fetch-Site": "same-origin"}
    page = f"{_HERE}/brand"
    assert owner.client.post(f"{page}/logo", data=picture, headers=headers).status_code == 303
    assert '<img class="logo" src="/' in owner.open(page).text
    assert owner.send(f"{page}/logo/delete").status_code == 303
    assert '<img class="logo"' not in owner.open(page).text

    wrong = {"logo": (io.BytesIO(b"no image"), "logo.png")}
    assert owner.client.post(f"{page}/logo", data=wrong, headers=headers).status_code == 400
    assert owner.send(f"{page}/logo").status_code == 422


@pytest.mark.parametrize(
    ("stored", "typed", "color"),
    [
        (None, {"primaryBrandColor": "#FFD400", "picked": "#0a6847"}, "#ffd400"),
        (None, {"picked": "#aa0000"}, "#aa0000"),
        (None, {}, None),
        ("#123456", {"picked": "#aa0000"}, "#aa0000"),
        ("#123456", {"primaryBrandColor": "#00aa00", "picked": "#aa0000"}, "#00aa00"),
        ("#123456", {}, "#123456"),
        ("#123456", {"primaryBrandColor": ""}, None),
    ],
)
def test_typed_color_precedes_the_picked_one(owner, brand, stored, typed, color):
    brand.rows("update organization set primary_brand_color = %s where id = %s returning 1", stored, brand.id)
    answer = owner.send(f"{_HERE}/brand", _read_color_form(owner.open(f"{_HERE}/brand").text) | typed)

    assert answer.status_code == 303
    assert brand.rows("select primary_brand_color from organization where id = %s", brand.id) == [(color,)]


def test_color_picked_after_a_preview_counts(owner, brand):
    form = _read_color_form(owner.open(f"{_HERE}/brand").text) | {"picked": "#aa0000"}
    form = _read_color_form(owner.open(f"{_HERE}/brand?{urlencode(form)}").text)
    assert (form["picked"], form["primaryBrandColor"]) == ("#aa0000", "#aa0000")
    owner.send(f"{_HERE}/brand", form | {"picked": "#00aa00"})

    assert brand.rows("select primary_brand_color from organization where id = %s", brand.id) == [("#00aa00",)]


def _read_color_form(html):
    names = ("primaryBrandColor", "picked", "shownText", "shownColor")
    return {name: re.search(f'name="{name}"[^>]* value="([^"]*)"', html)[1] for name in names}


def test_preview_shows_an_unsaved_color_as_it_is_shown_to_affiliates(owner, brand):
    query = "primaryBrandColor=%23ffd400&picked=%230a6847"
    html = owner.open(f"{_HERE}/brand?{query}").text

    assert "#ffd400 has a contrast of 1.4 to 1 on white" in html
    assert 'fill="#ffd400"' in html  # readable on the dark theme as it is
    assert "Light theme: shown as" in html
    assert "Dark theme: shown as" not in html
    form = _read_color_form(html)
    assert (form["picked"], form["primaryBrandColor"]) == ("#ffd400", "#ffd400")
    assert brand.rows("select primary_brand_color from organization where id = %s", brand.id) == [(None,)]


def test_wrong_color_is_named_and_not_saved(owner, brand):
    form = {"primaryBrandColor": "yellow", "picked": "#0a6847"}
    assert "This is not a color" in owner.open(f"{_HERE}/brand?primaryBrandColor=yellow&picked=").text
    refused = owner.send(f"{_HERE}/brand", form)

    assert refused.status_code == 400
    assert 'value="yellow"' in refused.text
    assert 'id="primaryBrandColor-error"' in refused.text
    assert brand.rows("select primary_brand_color from organization where id = %s", brand.id) == [(None,)]


def test_developers_page_names_the_ways_in_for_programs(owner):
    html = owner.open(f"{_HERE}/developers").text.partition("<main")[2]

    for address in ("/dashboard/api-keys", "/dashboard/webhooks", "/dashboard/embed", "/dashboard/audit-log", "/docs"):
        assert f'href="{address}"' in html
    assert 'value="http://127.0.0.1:8000/mcp"' in html


def test_owner_ends_a_members_sessions(app, owner, links, brand):
    other = Visitor(app)
    other.open(links("owner", "--role", "Manager", "--email", "ada@example.com"), User_Agent="Netscape")
    ((member_id,),) = brand.rows("select id from member where email = 'ada@example.com'")
    assert "Netscape" in owner.open(f"{_HERE}/team/{member_id}").text

    assert owner.send(f"{_HERE}/team/{member_id}/sessions").status_code == 303
    assert other.open("/dashboard").status_code == 303
    assert owner.open("/dashboard").status_code == 200


def test_viewer_reads_settings_without_forms(people):
    visitor = people("Viewer")
    for page in ("", "/profile", "/brand", "/tracking", "/payouts", "/developers"):
        answer = visitor.open(_HERE + page)

        assert answer.status_code == 200
        assert "Save" not in answer.text
    assert "Sign out everywhere" in visitor.open(_HERE).text
    assert '<h2 id="team">' not in visitor.open(_HERE).text


def test_viewers_form_changes_nothing(people, brand):
    visitor = people("Viewer")
    forms = {
        "profile": _PROFILE,
        "brand": {"primaryBrandColor": "#aa0000"},
        "payouts": _PAYOUTS | {"payoutGraceDays": "3"},
        "payouts/currency": {"homeCurrency": "EUR"},
        "tracking": {"custom": "x_y"},
        "brand/logo/delete": {},
    }

    for card, form in forms.items():
        assert visitor.send(f"{_HERE}/{card}", form | {"name": "Mine"}).status_code == 403, card
    assert brand.rows("select name, home_currency, primary_brand_color from organization where id = %s", brand.id) == [
        ("Brand", "USD", None)
    ]
