"""The numbers of a campaign after real traffic: visits, leads and sales in, through every process, and read back."""

import pytest

from tests.support.rows import leads as lead_calls
from tests.support.rows import paid_leads
from tests.support.rows.click_rows import consume_stream
from tests.support.rows.link_visits import BROWSER, new_slug, post_click
from tests.support.rows.program_rows import store_rate
from tests.support.running.hours import test_started_at

# Ten of these are a US dollar; of the other nobody ever publishes a rate.
VALUED, UNKNOWN = "SCR", "WST"
HEADLESS = BROWSER.replace("Firefox", "HeadlessFirefox")


@pytest.fixture(autouse=True)
def _rates(app):
    store_rate(VALUED, "10", test_started_at())


@pytest.fixture
def slug(brand):
    """Return the link of an affiliate whose campaign pays 20 % of sales and 30 cents of VALUED a click."""
    brand.program(click_reward_cents=30, click_reward_currency=VALUED, budget_cents=100)
    brand.set(bannedReferrers="spam.example")
    slug = new_slug()
    brand.affiliate(slug)
    return slug


def _visit(app, slug, number, agent=BROWSER, **fields):
    answer = post_click(app, slug, ip=f"198.51.{number}.1", headers={"User-Agent": agent}, **fields)
    assert answer.status_code == 200, answer.json


def _traffic(app, brand, slug, drain):
    """Five good visits, one twice, one held, one blocked, one robot's; three sales, one with a refund; one lead."""
    for number in range(5):
        _visit(app, slug, number)
    _visit(app, slug, 0)
    _visit(app, slug, 5, referrer="https://www.spam.example/page")
    _visit(app, slug, 6, agent=HEADLESS)
    _visit(app, slug, 7, agent="Googlebot/2.1")
    assert consume_stream() == 8
    for currency in ("USD", VALUED, UNKNOWN):
        assert brand.sale(affiliateSlug=slug, currency=currency, externalEventId=currency).status_code == 200
    drain()
    assert brand.refund("USD", 5_000).status_code == 200
    assert lead_calls.post_signed_lead(brand, affiliateSlug=slug).status_code == 200
    drain()


def _read(brand, what):
    answer = brand.get(f"/api/v1/programs/{brand.programs[-1]}/{what}")
    assert answer.status_code == 200, answer.json
    return answer.json


def _stats(brand):
    (shown,) = brand.get("/api/v1/programs/stats").json
    return shown


def _summary(brand):
    return brand.get(f"/api/v1/fraud-events/summary?programId={brand.programs[-1]}").json


def _some(shown, *names):
    return {name: shown[name] for name in names}


def test_statistics_count_visits_sales_leads_and_paid_clicks_and_value_each_in_its_currency(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)

    shown = _stats(brand)

    assert _some(shown, "clicks30d", "conversions30d", "sales30d", "leads30d", "paidClicks30d") == {
        "clicks30d": 6,
        "conversions30d": 9,
        "sales30d": 3,
        "leads30d": 1,
        "paidClicks30d": 5,
    }
    # Half of 2000 was refunded; 2000 and five clicks of 30 are a tenth in dollars.
    assert shown["pendingCommissionCents"] == 1_000 + 200 + 15
    assert shown["pendingUnconvertibleByCurrency"] == {UNKNOWN: 2_000}
    assert (shown["availableCommissionCents"], shown["owedEligibleInHomeCents"]) == (0, 0)


def test_the_budget_is_spent_by_clicks_alone_and_by_a_held_one_once_it_is_validated(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)
    before = _read(brand, "budget-status")
    (held,) = brand.get("/api/v1/conversions?status=Invalidated").json["items"]
    brand.person("Manager").post(f"/api/v1/conversions/{held['id']}/validate", {})

    after = _read(brand, "budget-status")

    assert (before["spentCents"], before["remainingCents"]) == (15, 85)
    assert before["fxUnconvertibleByCurrency"] is None
    assert (after["spentCents"], after["remainingCents"]) == (18, 82)
    assert _stats(brand)["paidClicks30d"] == 6


def test_tracking_status_agrees_with_the_statistics(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)

    status, stats = _read(brand, "tracking-status"), _stats(brand)

    assert (status["totalClicks30d"], status["totalConversions30d"]) == (stats["clicks30d"], stats["conversions30d"])
    assert (status["verified"], status["lastClickAt"] is not None) == (True, True)


def test_recent_events_hold_every_visit_and_every_row(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)

    events = _read(brand, "recent-events?limit=100")

    visits = [event for event in events if event["type"] == "click"]
    rows = {
        (event["conversionType"], event["currency"], event["status"], event["commissionCents"])
        for event in events
        if event["type"] == "conversion"
    }
    assert [event["occurredAt"] for event in events] == sorted((one["occurredAt"] for one in events), reverse=True)
    assert (len(visits), sum(event["isDuplicate"] for event in visits)) == (8, 1)
    assert rows == {
        ("OneTime", "USD", "Pending", 1_000),
        ("OneTime", VALUED, "Pending", 2_000),
        ("OneTime", UNKNOWN, "Pending", 2_000),
        ("LeadReward", "USD", "Pending", 0),
        ("ClickReward", VALUED, "Pending", 150),
        ("ClickReward", VALUED, "Invalidated", 30),
    }


def test_the_fraud_summary_says_what_was_kept_out_until_the_brand_lets_it_in(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)
    before = _summary(brand)
    (held,) = brand.get("/api/v1/conversions?status=Invalidated").json["items"]
    brand.person("Manager").post(f"/api/v1/conversions/{held['id']}/validate", {})

    after = _summary(brand)

    assert _some(before, "blockedClicks", "blockedClicksByReason", "heldClicks", "quarantinedLeads") == {
        "blockedClicks": 1,
        "blockedClicksByReason": {"headless": 1},
        "heldClicks": 1,
        "quarantinedLeads": 0,
    }
    assert (before["estimatedNotBilledCents"], after["estimatedNotBilledCents"]) == (6, 3)
    assert after["heldClicks"] == 1


def test_leads_paid_in_a_currency_without_a_rate_are_held_out_of_every_number(brand):
    with paid_leads.configure_human_check(URL="local"):
        to = paid_leads.create_campaign(brand, fee_currency=UNKNOWN)
        assert paid_leads.send_lead(brand, to).status_code == 200
        assert paid_leads.send_lead(brand, to, email="eve@mailinator.com").status_code == 200

    stats, budget, summary = _stats(brand), _read(brand, "budget-status"), _summary(brand)

    assert (stats["leads30d"], stats["pendingCommissionCents"]) == (1, 0)
    assert stats["pendingUnconvertibleByCurrency"] == {UNKNOWN: 500}
    assert (budget["unlimited"], budget["spentCents"]) == (True, 0)
    assert (budget["fxUnconvertibleByCurrency"], budget["fxUnconvertibleCents"]) == ({UNKNOWN: 500}, 500)
    assert (summary["quarantinedLeads"], summary["estimatedNotBilledCents"]) == (1, None)


def test_a_lead_that_is_refused_is_none_in_quarantine(brand):
    brand.set(leadsPerDay="1")
    with paid_leads.configure_human_check(URL="local"):
        to = paid_leads.create_campaign(brand)
        for email in ("eve@mailinator.com", "ada@example.org", f"{to}@example.com"):
            assert paid_leads.send_lead(brand, to, email=email).status_code == 200

    assert [(row[0], row[2]) for row in paid_leads.list_fraud_events(brand)] == [
        ("held", ["disposable_domain"]),
        ("blocked", ["daily_cap"]),
        ("blocked", ["self_lead", "daily_cap"]),
    ]
    assert _summary(brand)["quarantinedLeads"] == 1
    assert len(brand.get("/api/v1/conversions?status=Invalidated").json["items"]) == 1


def test_a_budget_pays_for_nothing_whose_price_in_it_is_unknown(brand):
    with paid_leads.configure_human_check(URL="local"):
        to = paid_leads.create_campaign(brand, fee_currency=UNKNOWN, budget_cents=10_000)

        answer = paid_leads.send_lead(brand, to)

    assert (answer.status_code, answer.json["error"]) == (409, "campaign_budget_reached")
    assert _read(brand, "budget-status")["spentCents"] == 0
    assert (_stats(brand)["leads30d"], _summary(brand)["quarantinedLeads"]) == (0, 0)


def test_a_quarantined_lead_that_the_brand_validates_is_spent(brand):
    with paid_leads.configure_human_check(URL="local"):
        to = paid_leads.create_campaign(brand, budget_cents=1_000)
        paid_leads.send_lead(brand, to, email="eve@mailinator.com")
    before = (_read(brand, "budget-status")["spentCents"], _summary(brand)["estimatedNotBilledCents"])
    (held,) = brand.get("/api/v1/conversions?status=Invalidated").json["items"]
    brand.person("Manager").post(f"/api/v1/conversions/{held['id']}/validate", {})

    after = (_read(brand, "budget-status")["spentCents"], _summary(brand)["estimatedNotBilledCents"])

    assert (before, after) == ((0, 500), (500, 0))
    assert (_stats(brand)["leads30d"], _summary(brand)["quarantinedLeads"]) == (1, 1)
