"""Programs on the dashboard: the list, a new program, and a program's terms in sentences."""

import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago

_HERE = "/dashboard/programs"
_NEW = {
    "name": "Spring",
    "slug": "spring-sale",
    "defaultCommissionType": "Percentage",
    "defaultCommissionValue": "12,5",
}


def _text(html):
    return " ".join(re.sub(r"<[^>]*>", " ", html.partition("<main")[2]).replace("\xa0", " ").split())


def test_empty_program_list_links_to_creation(people):
    html = people().open(_HERE).text

    assert "No programs yet" in html
    assert f'href="{_HERE}/new"' in html


def test_new_brands_overview_links_to_program_creation_by_role(people):
    visitor = people()
    assert f'href="{_HERE}/new"' in visitor.open("/dashboard").text

    assert f'href="{_HERE}/new"' not in people("Viewer").open("/dashboard").text


def test_program_list_shows_commissions(brand, people):
    brand.program(name="Old", archived_at=datetime.now(UTC))
    brand.program(name="Knives <b>", default_commission_value=20, recurring_months=12, recurring_delay_invoices=2)
    visitor = people("Viewer")
    html = visitor.open(_HERE).text

    assert "Knives &lt;b&gt;" in html
    assert "20 % of each payment in a customer's first 12 months, nothing for the first 2 invoices." in _text(
        html
    ).replace("&#39;", "'")
    assert "Old" not in _text(html)
    assert f'href="{_HERE}/new"' not in html
    assert "Old" in _text(visitor.open(f"{_HERE}?archived=on").text)


def test_older_programs_are_on_the_next_page(brand, people):
    for number in range(52):
        brand.program(name=f"N{number}", created_at=datetime.now(UTC) - timedelta(days=number))
    visitor = people()
    first = visitor.open(_HERE).text
    older = re.search(r'href="([^"]+)" rel="next"', first)[1].replace("&amp;", "&")

    assert ">N51<" not in first
    assert ">N51<" in visitor.open(older).text


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({}, "20 % of each payment."),
        (
            {
                "default_commission_model": "Cpl",
                "default_commission_type": "Fixed",
                "default_commission_value": 7.5,
                "fee_currency": "USD",
                "sale_commission_type": "Percentage",
                "sale_commission_value": 10,
                "click_reward_cents": 5,
                "click_reward_currency": "USD",
            },
            "7.50 USD for each lead. Plus 10 % of each payment. Plus 0.05 USD for each click.",
        ),
        ({"cookie_window_days": 1}, "1-day cookie, last click wins."),
        (
            {"cookie_window_days": 45, "attribution_model": "FirstTouch"},
            "45-day cookie, first click wins.",
        ),
    ],
    ids=str,
)
def test_terms_are_shown_as_sentences(brand, people, terms, sentence):
    program = brand.program(**terms)

    assert sentence in _text(people("Viewer").open(f"{_HERE}/{program}").text).replace("&#39;", "'")


def test_program_page_shows_budget_tracking_and_recent_events(brand, people):
    program = brand.program(budget_cents=500_000, budget_currency="USD")
    ben = brand.affiliate("ben")
    insert_click(brand, ben, occurred_at=time_ago(days=2))
    conversion_id = insert_conversion(brand, ben, amount_cents=123_450, is_test=True)
    html = people("Viewer").open(f"{_HERE}/{program}").text

    assert '<table aria-label="Recent events" role="table">' in html
    assert "5,000.00 USD" in html
    assert "1,234.50 USD" in html
    assert f'href="/dashboard/conversions/{conversion_id}"' in html
    assert re.findall(r'<span class="chip ok tick">([^<]+)</span>', html) == ["Click seen", "Sale or lead seen"]
    assert f'href="{_HERE}/{program}/install"' in html
    assert f"{_HERE}/{program}/change" not in html
    assert f"{_HERE}/{program}/archive" not in html


def test_recent_clicks_show_their_outcome_in_words(brand, people):
    program, ben = brand.program(), brand.affiliate("ben")
    outcomes = ("recorded", "blocked", "held", "unscored", "over_budget", "earned")
    for minutes, outcome in enumerate(outcomes):
        insert_click(brand, ben, outcome=outcome, occurred_at=time_ago(minutes=minutes))
    insert_click(brand, ben, is_duplicate=True, occurred_at=time_ago(minutes=10))
    html = people("Viewer").open(f"{_HERE}/{program}").text

    assert re.findall(r">Click on ben</td><td[^>]*>([^<]*)<", html) == [
        "Counted",
        "Blocked by fraud rules",
        "Held for review",
        "Fraud check pending",
        "Over the budget",
        "Earned commission",
        "Repeat click",
    ]


def test_recent_history_of_another_service_says_that_it_is_never_paid(brand, people):
    program = brand.program()
    insert_conversion(brand, brand.affiliate("ben"), source="import", payout_locked=True)

    html = people("Viewer").open(f"{_HERE}/{program}").text

    assert "history, not paid out" in html
    assert "Nothing seen yet" in html


def test_new_program_is_created_once_and_shown(brand, people):
    visitor = people("Manager")
    form = visitor.open(f"{_HERE}/new").text
    key = re.search(r'action="/dashboard/programs/new".*?name="_key" value="([^"]+)"', form, re.DOTALL)[1]

    first = visitor.send(f"{_HERE}/new", {**_NEW, "recurring": "first", "_key": key})
    again = visitor.send(f"{_HERE}/new", {**_NEW, "recurring": "first", "_key": key})

    assert (first.status_code, again.status_code) == (303, 303)
    assert first.headers["Location"] == again.headers["Location"]
    ((slug, value, months),) = brand.rows("select slug, default_commission_value, recurring_months from program")
    assert (slug, float(value), months) == ("spring-sale", 12.5, 0)
    assert "first payment" in visitor.open(first.headers["Location"]).text


def test_links_of_a_new_program_open_its_destination_url(brand, people):
    visitor = people("Manager")
    to = visitor.send(f"{_HERE}/new", {**_NEW, "referralDestinationUrl": " https://www.acme.example/start "})

    assert brand.rows("select referral_destination_url from program") == [("https://www.acme.example/start",)]
    assert "lead nowhere yet" not in visitor.open(to.headers["Location"]).text


def test_program_without_destination_url_says_that_its_links_lead_nowhere(brand, people):
    program, slug = brand.program(), f"zoe-{uuid4().hex}"
    brand.affiliate(slug)
    pages = {role: people(role).open(f"{_HERE}/{program}").text for role in ("Manager", "Viewer")}

    assert "links lead nowhere yet." in pages["Manager"]
    assert f'href="{_HERE}/{program}/change#referralDestinationUrl"' in pages["Manager"]
    assert "lead nowhere yet" not in pages["Viewer"]  # who cannot change it
    assert brand.app.test_client().get(f"/r/{slug}").status_code == 404


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"slug": "A B"}, "slug"),
        ({"referralDestinationUrl": "javascript:alert(1)"}, "referralDestinationUrl"),
        ({"defaultCommissionType": "Half"}, "defaultCommissionType"),
        ({"defaultCommissionValue": ""}, "defaultCommissionValue"),
        ({"defaultCommissionValue": "much"}, "defaultCommissionValue"),
        ({"defaultCommissionValue": "101"}, "defaultCommissionValue"),
        ({"defaultCommissionValue": "-1"}, "defaultCommissionValue"),
        ({"defaultCommissionValue": "9" * 400}, "defaultCommissionValue"),
    ],
    ids=lambda wrong: str(wrong)[:40],
)
def test_error_is_shown_at_its_field_with_the_typed_values(brand, people, wrong, field):
    answer = people().send(f"{_HERE}/new", {**_NEW, **wrong})

    assert answer.status_code == 400
    assert "<title>Error:" in answer.text
    assert 'role="alert"' in answer.text
    invalid_fields = re.findall(r'<(?:input|select) id="([^"]+)"[^>]*aria-invalid="true"', answer.text)
    assert invalid_fields == [field]
    assert 'value="spring-sale"' in answer.text or "slug" in wrong
    assert brand.rows("select count(*) from program") == [(0,)]


def test_taken_slug_shows_an_error_at_its_field(brand, people):
    brand.program(slug="spring-sale")
    answer = people().send(f"{_HERE}/new", _NEW)

    assert answer.status_code == 409
    assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == ["slug"]


def test_viewer_cannot_create_a_program(brand, people):
    visitor = people("Viewer")

    assert visitor.open(f"{_HERE}/new").status_code == 403
    assert visitor.send(f"{_HERE}/new", _NEW).status_code == 403
    assert brand.rows("select count(*) from program") == [(0,)]


def test_unknown_or_other_brands_program_returns_404(rival, people):
    visitor = people()

    for program in (uuid4(), rival.program(), "x"):
        assert visitor.open(f"{_HERE}/{program}").status_code == 404
