"""The review queue on the dashboard."""

import re
from datetime import timedelta

import pytest

from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.program_rows import insert_conversion, time_ago
from tests.support.running.hours import start_of_test

_HERE = "/dashboard/review"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, the affiliate Ada and the paused affiliate Ben."""
    brand.program(name="Spring")
    brand.affiliate("ben", status="Paused")
    brand.affiliate("ada", full_name="Ada <Ek>")
    return brand


@pytest.fixture
def ada(campaign):
    ((affiliate_id,),) = campaign.rows("select id from affiliate where full_name like 'Ada%%'")
    return affiliate_id


@pytest.fixture
def cases(campaign, ada):
    """One case of each kind, newest first: a held lead, a blocked click, a sale of the paused Ben."""
    lead = insert_conversion(campaign, ada, type="LeadReward", status="Invalidated", amount_cents=0)
    cases_by_kind = {
        "lead": lead,
        "held": record_blocked_click(
            campaign, ada, subject="lead", subject_id=lead, action="held", at=start_of_test() + timedelta(hours=2)
        ),
        "blocked": record_blocked_click(campaign, ada, "headless", at=start_of_test() + timedelta(hours=1)),
    }
    assert campaign.sale(affiliateSlug="ben", amountCents=4_900, currency="EUR").status_code == 400
    ((cases_by_kind["sale"],),) = campaign.rows("select id from uncredited_conversion")
    return cases_by_kind


def _items(html):
    return html.split('<li class="card" ')[1:]


def _kinds(html):
    return re.findall(r'<li class="card".*?<span class="chip \w+">(.*?)</span>', html, re.DOTALL)


def _buttons(item):
    without_hidden_text = re.sub(r"<span class=\"unseen\">|</span>", "", item)
    return re.findall(r"class=\"button slim[^>]*>([^<]*)</(?:button|a)>", without_hidden_text)


def _build_form(item, action):
    form = next(
        candidate for candidate in re.findall(r"<form.*?</form>", item, re.DOTALL) if f'value="{action}"' in candidate
    )
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)) | {"action": action}


def _list_statuses(brand, table):
    return brand.rows(f"select status from {table} order by id")


def test_all_open_cases_are_in_one_queue(campaign, cases, people):
    html = people().open(_HERE).text
    held_item, blocked_item, sale_item = _items(html)

    assert _kinds(html) == ["Held for review", "Blocked by fraud rules", "Not attributed"]
    assert _buttons(held_item) == [f"{verb} Ada &lt;Ek&gt;" for verb in ("Validate", "Resolve", "Dismiss", "Ban")]
    assert _buttons(blocked_item) == [f"{verb} Ada &lt;Ek&gt;" for verb in ("Resolve", "Dismiss", "Ban")]
    assert _buttons(sale_item) == [f"{verb} Ben" for verb in ("Credit manually", "Dismiss", "Ban")]
    assert "automated browser" in blocked_item
    assert "49.00 EUR" in sale_item
    assert "Spring" in sale_item
    assert f'href="/dashboard/conversions/{cases["lead"]}"' in held_item


@pytest.mark.parametrize(("action", "status"), [("resolve", "resolved"), ("dismiss", "dismissed")])
def test_closing_an_event_focuses_the_next(campaign, cases, people, action, status):
    visitor = people("Manager")
    item = _items(visitor.open(_HERE).text)[1]
    answer = visitor.send(_HERE, _build_form(item, action))
    after = visitor.open(answer.headers["Location"]).text

    assert answer.status_code == 303
    assert campaign.rows("select status from fraud_event where id = %s", cases["blocked"]) == [(status,)]
    assert _kinds(after) == ["Held for review", "Not attributed"]
    assert re.findall(r"data-item( autofocus)?", after) == ["", " autofocus"]


def test_held_conversion_is_released_and_its_event_dismissed(campaign, cases, people):
    visitor = people()
    item = _items(visitor.open(_HERE).text)[0]

    assert visitor.send(_HERE, _build_form(item, "validate")).status_code == 303
    assert campaign.rows("select status from conversion where id = %s", cases["lead"]) == [("Pending",)]
    assert campaign.rows("select status from fraud_event where id = %s", cases["held"]) == [("dismissed",)]
    assert "Held for review" not in _kinds(visitor.open(_HERE).text)


def test_conversion_released_elsewhere_is_not_offered_again(campaign, cases, people):
    campaign.post(f"/api/v1/conversions/{cases['lead']}/validate", {})

    held_item = _items(people().open(_HERE).text)[0]
    assert "Validate Ada" not in " ".join(_buttons(held_item))


def test_sale_is_dismissed_or_credited_by_hand(campaign, cases, people):
    visitor = people()
    item = _items(visitor.open(_HERE).text)[2]

    assert f'href="/dashboard/conversions/new?uncredited={cases["sale"]}"' in item
    assert visitor.send(_HERE, _build_form(item, "dismiss")).status_code == 303
    assert _list_statuses(campaign, "uncredited_conversion") == [("dismissed",)]
    assert "Not attributed" not in _kinds(visitor.open(_HERE).text)


def test_affiliate_is_banned_from_the_queue(campaign, cases, ada, people):
    visitor = people()
    item = _items(visitor.open(_HERE).text)[1]

    assert visitor.send(_HERE, _build_form(item, "ban")).status_code == 303
    assert campaign.rows("select status from affiliate where id = %s", ada) == [("Banned",)]


def test_case_closed_meanwhile_shows_a_refusal(campaign, cases, people):
    visitor = people()
    item = _items(visitor.open(_HERE).text)[1]
    visitor.send(_HERE, _build_form(item, "resolve") | {"_key": "a"})
    answer = visitor.send(_HERE, _build_form(item, "dismiss") | {"_key": "b"})

    assert answer.status_code == 409
    assert 'role="alert"' in answer.text
    assert "<h1>Review</h1>" in answer.text


@pytest.mark.parametrize(
    "form", [{}, {"case": "event"}, {"case": "event", "action": "pay"}, {"case": "sale", "action": "validate"}]
)
def test_form_without_an_action_shows_an_error(campaign, cases, people, form):
    assert people().send(_HERE, {"_key": "k"} | form).status_code == 422
    assert _list_statuses(campaign, "fraud_event") == [("open",), ("open",)]


@pytest.mark.parametrize(("case", "action"), [("event", "resolve"), ("event", "ban"), ("sale", "dismiss")])
@pytest.mark.parametrize("unknown", ["", "x", "01890000-0000-7000-8000-000000000000"])
def test_unknown_case_returns_404(campaign, people, case, action, unknown):
    form = {"_key": "k", "case": case, "action": action, "id": unknown, "affiliate": unknown}

    assert people().send(_HERE, form).status_code == 404


def test_another_brands_case_returns_404(campaign, rival, people):
    rival.program()
    eva = rival.affiliate("eva", full_name="Eva Lindqvist")
    rivals_case = record_blocked_click(rival, eva)
    visitor = people()

    assert "Lindqvist" not in visitor.open(_HERE).text
    form = {"_key": "k", "case": "event", "id": str(rivals_case), "affiliate": str(eva)}
    assert {visitor.send(_HERE, form | {"action": act}).status_code for act in ("resolve", "ban")} == {404}
    assert _list_statuses(rival, "fraud_event") == [("open",)]


def test_viewer_reads_and_decides_nothing(campaign, cases, people):
    visitor = people("Viewer")
    html = visitor.open(_HERE).text

    assert len(_items(html)) == 3
    assert f'<form method="post" action="{_HERE}"' not in html
    form = {"_key": "k", "case": "event", "action": "resolve", "id": str(cases["blocked"])}
    assert visitor.send(_HERE, form).status_code == 403
    assert _list_statuses(campaign, "fraud_event") == [("open",), ("open",)]


def test_queue_is_filtered_and_paged(campaign, ada, cases, people):
    for number in range(25):
        record_blocked_click(campaign, ada, at=time_ago(hours=5, minutes=number))
    visitor = people()

    assert _kinds(visitor.open(f"{_HERE}?kind=held").text) == ["Held for review"]
    assert _kinds(visitor.open(f"{_HERE}?kind=uncredited&programId={campaign.programs[-1]}").text) == ["Not attributed"]
    first = visitor.open(f"{_HERE}?kind=blocked").text
    older = re.search(r'href="([^"]+)" rel="next"', first)[1].replace("&amp;", "&")
    second = visitor.open(older).text
    assert "kind=blocked" in older
    assert (len(_items(first)), len(_items(second))) == (20, 6)
    assert 'rel="next"' not in second


def test_cases_of_the_same_time_are_all_shown(campaign, ada, people):
    for _ in range(23):
        record_blocked_click(campaign, ada, at=time_ago(hours=5))

    assert len(_items(people().open(_HERE).text)) == 23


@pytest.mark.parametrize("query", ["kind=x", "programId=x"])
def test_invalid_filter_shows_an_error(campaign, cases, people, query):
    answer = people().open(f"{_HERE}?{query}")

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


def test_empty_queue_and_empty_filter_show_different_texts(campaign, people):
    visitor = people()

    assert "Nothing to review</b>" in visitor.open(_HERE).text
    assert "Nothing to review" in visitor.open(f"{_HERE}?kind=held").text
