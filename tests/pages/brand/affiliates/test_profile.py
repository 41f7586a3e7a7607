"""The page of one affiliate on the dashboard: the data that it shows and the changes that it takes."""

import html
import re
from uuid import UUID

import pytest

from tests.support import owed_totals
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_conversion, time_ago
from tests.support.switches.brought_rows import add_old_token

_SELECT_COMMISSIONS = "select commission_cents, currency, type from conversion"


@pytest.fixture
def ben(brand):
    """Return the address of the page of Ben, an affiliate of the brand's only campaign."""
    brand.program(name="Spring")
    return f"/dashboard/affiliates/{brand.affiliate('ben', full_name='Ben <Osei>', tags=['video'], notes='Tall')}"


def _row(brand, columns):
    return brand.rows(f"select {columns} from affiliate where email = 'ben@example.com'")[0]


def _visible_text(answer):
    return html.unescape(re.sub(r"<[^>]*>", " ", answer.text))


def test_profile_shows_all_data_of_an_affiliate(brand, people, ben):
    html = people().open(ben).text

    assert "<h1>Ben &lt;Osei&gt;</h1>" in html
    for heading in (
        "Performance",
        "Balance",
        "Latest conversions",
        "Latest payouts",
        "Links",
        "Coupon codes",
        "Details",
        "Notes",
        "Timeline",
    ):
        assert f">{heading}</h2>" in html, heading
    assert "video" in html
    assert "Tall" in html
    assert "Spring" in html


def test_profile_shows_old_tokens_as_text(brand, people, ben):
    assert "former system" not in people().open(ben).text
    for token in ("jo.hn", "<b>q</b>"):
        add_old_token(brand, "ben", token)

    html = people().open(ben).text

    assert "<code>&lt;b&gt;q&lt;/b&gt;</code>, <code>jo.hn</code>" in html


def test_settings_show_the_forms_of_an_affiliate(people, ben):
    html = people().open(f"{ben}/settings").text

    for heading in ("Profile", "Commission", "Give a bonus", "More"):
        assert f">{heading}</h2>" in html, heading
    assert 'value="video"' in html
    assert f'href="{ben}/ban"' in html
    assert f'href="{ben}/tax-form"' in html


def test_balance_is_listed_by_currency_and_state(app, flask, visitor):
    payroll = Payroll.create(app)
    ben = payroll.affiliate("ben")
    payroll.sell("ben", 10_000)
    payroll.run()
    payroll.sell("ben", 5_000, "JPY")
    visitor.open(flask.json("sign-in", "owner", "--org", payroll.brand.id)["url"])
    html = visitor.open(f"/dashboard/affiliates/{ben}").text
    rows = re.findall(r'<tr role="row"><th scope="row" role="rowheader">(\w{3})</th>(.*?)</tr>', html)

    assert [(currency, re.findall(r">([^<]+)</td>", cells)) for currency, cells in rows] == [
        ("JPY", ["0 JPY", "1,000 JPY", "0 JPY", "0 JPY"]),
        ("USD", ["0.00 USD", "0.00 USD", "20.00 USD", "0.00 USD"]),
    ]


def test_figures_are_those_of_the_affiliate_alone(brand, people, ben):
    brand.program()
    affiliate_id, program_id = UUID(ben.rpartition("/")[2]), brand.programs[0]
    insert_conversion(brand, brand.affiliate("eva"))
    for days in (1, 10):
        insert_conversion(brand, affiliate_id, program_id=program_id, occurred_at=time_ago(days=days))
    visitor = people("Viewer")

    for query, sales in (("?range=7d", "1"), ("", "2"), ("?range=own&from=2026-01-01&to=2026-01-02", "0")):
        html = visitor.open(f"{ben}{query}").text
        assert f"Sales</dt><dd>{sales}</dd>" in html, query
    assert "Top affiliates" not in html


@pytest.mark.parametrize("is_counted", [False, True])
def test_last_sale_is_that_of_the_kept_totals_or_a_newer_one(brand, people, ben, is_counted):
    affiliate_id = UUID(ben.rpartition("/")[2])
    visitor = people("Viewer")

    def last_sale(query=""):
        return re.search(r">Last sale</dt><dd>(.*?)</dd>", visitor.open(f"{ben}{query}").text, re.DOTALL)[1]

    assert last_sale().strip() == "–"
    insert_conversion(brand, affiliate_id, occurred_at=time_ago(days=3), refunded_cents=10_000)
    insert_conversion(brand, affiliate_id, occurred_at=time_ago(days=2), status="Denied")
    if is_counted:
        owed_totals.fold_changes(brand)
        owed_totals.compute_owed_days(brand)
        assert f"{time_ago(days=3):%Y-%m-%d}" in last_sale("?range=own&from=2026-01-01&to=2026-01-02")
    assert f"{time_ago(days=3):%Y-%m-%d}" in last_sale()


def test_latest_conversions_and_payouts_lead_to_all_of_them(app, flask, visitor):
    payroll = Payroll.create(app)
    ben = payroll.affiliate("ben")
    for _ in range(6):
        payroll.sell("ben")
    payroll.affiliate("eva")
    payroll.sell("eva", externalEventId="evas-order")
    payroll.run()
    payroll.pay()
    visitor.open(flask.json("sign-in", "owner", "--org", payroll.brand.id)["url"])
    page = f"/dashboard/affiliates/{ben}"

    html = visitor.open(page).text
    assert f'href="/dashboard/conversions?affiliateId={ben}"' in html
    assert len(re.findall(r'href="/dashboard/conversions/[0-9a-f-]{36}">Sale</a> <span', html)) == 5
    assert "evas-order" not in html
    assert f'href="{page}/payouts"' in html
    assert "120.00 USD" in visitor.open(f"{page}/payouts").text


def test_name_and_tags_are_changed(brand, people, ben):
    visitor = people("Manager")
    form = {"_key": "k", "fullName": " Ada ", "tags": "north, video,,north "}
    answer = visitor.send(f"{ben}/settings/profile", form)

    assert answer.status_code == 303
    assert _row(brand, "full_name, tags, notes") == ("Ada", ["north", "video"], "Tall")
    assert "Profile saved." in visitor.open(answer.headers["Location"]).text


def test_too_long_notes_show_an_error_at_the_field(brand, people, ben):
    answer = people().send(f"{ben}/notes", {"_key": "k", "notes": "x" * 10_001})

    assert answer.status_code == 400
    assert re.search(r'id="notes-notes"[^>]*aria-invalid="true"', answer.text)
    assert _row(brand, "notes") == ("Tall",)


def test_recruits_are_listed_with_their_share(brand, people, ben):
    assert "No recruits yet" in people().open(f"{ben}/recruits").text
    eva = brand.affiliate("eva", full_name="Eva <b>", recruited_by_affiliate_id=ben.rpartition("/")[2])

    page = people().open(f"{ben}/recruits")
    assert page.status_code == 200
    assert f'<a href="/dashboard/affiliates/{eva}">Eva &lt;b&gt;</a>' in page.text
    assert page.text.count("0.00 USD") == 2


def test_link_has_a_qr_code(brand, people, ben):
    visitor = people("Viewer")
    (address,) = set(re.findall(rf'href="({ben}/links/[^"]+/qr.svg)"', visitor.open(ben).text))

    answer = visitor.open(address)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/svg+xml")
    assert answer.text.startswith("<?xml")
    assert visitor.open(f"{ben}/links/none/qr.svg").status_code == 404


def test_refused_form_keeps_the_typed_values(brand, people, ben):
    form = {"_key": "k", "fullName": "Ada", "tags": "x" * 51}
    answer = people().send(f"{ben}/settings/profile", form)

    assert answer.status_code == 400
    assert "<title>Error: Settings of Ben" in answer.text
    assert 'role="alert"' in answer.text
    assert re.search(r'id="about-tags"[^>]*value="x{51}"[^>]*aria-invalid="true"', answer.text)
    assert 'value="Ada"' in answer.text
    assert _row(brand, "full_name, notes") == ("Ben <Osei>", "Tall")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({"type": "Percentage", "value": "12.5"}, ("Percentage", 12.5)),
        ({"type": "Fixed", "value": "3"}, ("Fixed", 3)),
        ({"type": "", "value": "9"}, (None, None)),
    ],
)
def test_rate_is_changed(brand, people, ben, typed, expected):
    visitor = people()
    visitor.send(f"{ben}/settings/rate", {"_key": "a", "type": "Percentage", "value": "40"})

    assert visitor.send(f"{ben}/settings/rate", {"_key": "b", **typed}).status_code == 303
    assert _row(brand, "custom_commission_type, custom_commission_value") == expected


@pytest.mark.parametrize("value", ["", "much", "101", "-1", "1e9", "NaN", "1.1234567", "1" * 400])
def test_invalid_rate_shows_an_error_at_its_field(brand, people, ben, value):
    answer = people().send(f"{ben}/settings/rate", {"_key": "k", "type": "Percentage", "value": value})

    assert answer.status_code == 400
    assert re.search(r'id="rate-value"[^>]*aria-invalid="true"', answer.text)
    assert _row(brand, "custom_commission_type") == (None,)


def test_default_link_stays_when_links_are_added_and_removed(brand, people, ben):
    visitor = people()
    assert visitor.send(f"{ben}/links", {"_key": "k", "customAlias": "ben-video", "format": "Query"}).status_code == 303
    html = visitor.open(ben).text
    (removal_path,) = re.findall(r'action="([^"]+/remove)"', html)
    assert "ben-video" in html

    assert visitor.send(removal_path, {"_key": "l"}).status_code == 303
    assert removal_path not in visitor.open(ben).text
    number_answer = visitor.send(f"{ben}/links", {"_key": "n", "customAlias": "54830", "format": "Short"})
    assert (number_answer.status_code, "Digits alone could be an order number" in number_answer.text) == (400, True)
    taken_answer = visitor.send(f"{ben}/links", {"_key": "m", "customAlias": "ben", "format": "Short"})
    assert (taken_answer.status_code, 'role="alert"' in taken_answer.text) == (409, True)
    assert 'value="ben"' in taken_answer.text


def test_affiliate_status_is_changed_step_by_step(brand, people, ben):
    visitor = people()
    for act, status in (("pause", "Paused"), ("resume", "Approved")):
        assert visitor.send(f"{ben}/standing", {"_key": act, "act": act}).status_code == 303
        assert _row(brand, "status") == (status,)

    refused = visitor.send(f"{ben}/standing", {"_key": "r", "act": "reject"})
    assert (refused.status_code, "cannot be rejected" in _visible_text(refused)) == (409, True)
    assert visitor.send(f"{ben}/standing", {"_key": "x", "act": "dance"}).status_code == 404


def test_ban_is_confirmed_on_its_own_page(brand, people, ben):
    visitor = people()
    confirmation = visitor.open(f"{ben}/ban")
    assert "Ban Ben &lt;Osei&gt;</h1>" in confirmation.text
    assert _row(brand, "status") == ("Approved",)

    assert visitor.send(f"{ben}/ban", {"_key": "k"}).status_code == 303
    assert _row(brand, "status") == ("Banned",)
    html = visitor.open(ben).text
    assert "Lift the ban" in html
    assert f'href="{ben}/ban"' not in visitor.open(f"{ben}/settings").text


def test_bonus_is_given_once_in_minor_units_of_its_currency(brand, people, ben):
    visitor = people()
    for _ in range(2):
        form = {"_key": "same", "amount": "1,234.50", "currency": "eur", "note": "Well done"}
        assert visitor.send(f"{ben}/settings/bonus", form).status_code == 303

    assert brand.rows(_SELECT_COMMISSIONS) == [(1_234_50, "EUR", "Bonus")]


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"amount": "1.234", "currency": "USD"}, "amount"),
        ({"amount": "0", "currency": "USD"}, "amount"),
        ({"amount": "-5", "currency": "USD"}, "amount"),
        ({"amount": "", "currency": "USD"}, "amount"),
        ({"amount": "1.5", "currency": "JPY"}, "amount"),
        ({"amount": "5", "currency": "XXQ"}, "currency"),
        ({"amount": "5", "currency": ""}, "currency"),
    ],
)
def test_invalid_bonus_shows_an_error_at_its_field(brand, people, ben, form, field):
    answer = people().send(f"{ben}/settings/bonus", {"_key": "k", **form})

    assert answer.status_code in (400, 422)
    assert re.search(rf'id="bonus-{field}"[^>]*aria-invalid="true"', answer.text), _visible_text(answer)[:400]
    assert brand.rows(_SELECT_COMMISSIONS) == []


def test_tax_form_is_decrypted_only_on_request(brand, people, ben):
    visitor = people("Admin")
    explanation = visitor.open(f"{ben}/tax-form").text
    assert "recorded in the audit log" in explanation
    assert brand.rows("select count(*) from audit_entry where action = 'tax_form.read'") == [(0,)]

    assert "No tax form on file." in visitor.send(f"{ben}/tax-form", {"_key": "k"}).text
    assert brand.rows("select count(*) from audit_entry where action = 'tax_form.read'") == [(1,)]


@pytest.mark.parametrize("role", ["Viewer", "Manager"])
def test_tax_form_without_permission_shows_a_refusal(people, ben, role):
    visitor = people(role)

    assert f'href="{ben}/tax-form"' not in visitor.open(f"{ben}/settings").text
    assert visitor.send(f"{ben}/tax-form", {"_key": "k"}).status_code == 403


def test_viewer_reads_and_changes_nothing(brand, people, ben):
    visitor = people("Viewer")
    pages = ("", "/settings", "/timeline", "/payouts", "/recruits", "/ban", "/tax-form")
    for path in (f"{ben}{page}" for page in pages):
        html = visitor.open(path).text
        forms = set(re.findall(r'<form method="post" action="([^"]+)"', html))
        assert forms <= {"/theme", "/sign-out"}, path
    for path in ("notes", "settings/profile", "settings/rate", "links", "settings/bonus", "ban"):
        assert visitor.send(f"{ben}/{path}", {"_key": "k", "currency": "USD"}).status_code == 403, path


def test_another_brands_affiliate_returns_404(people, ben, rival):
    rival.program()
    rivals_page = f"/dashboard/affiliates/{rival.affiliate('eva')}"
    visitor = people()
    pages = ("", "/settings", "/timeline", "/payouts", "/recruits", "/ban", "/tax-form", "/links/none/qr.svg")
    for path in (*(f"{rivals_page}{page}" for page in pages), "/dashboard/affiliates/none"):
        assert visitor.open(path).status_code == 404, path
    for path in ("notes", "settings/profile", "settings/rate", "links", "settings/bonus", "ban", "tax-form"):
        answer = visitor.send(f"{rivals_page}/{path}", {"_key": "k", "currency": "USD"})
        assert answer.status_code == 404, path
