"""Campaign statistics after real traffic: visits, leads and sales through every process."""

import pytest

from tests.support.rows import leads as lead_calls
from tests.support.rows import paid_leads
from tests.support.rows.click_rows import consume_stream
from tests.support.rows.link_visits import BROWSER, new_slug, post_click
from tests.support.rows.program_rows import store_rate
from tests.support.running.hours import start_of_test

# Ten VALUED are one US dollar; UNKNOWN has no published rate.
VALUED, UNKNOWN = "SCR", "WST"
HEADLESS = BROWSER.replace("Firefox", "HeadlessFirefox")


@pytest.fixture(autouse=True)
def _rates(app):
    store_rate(VALUED, "10", start_of_test())


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
    """Send five good visits, one duplicate, one held, one blocked, one of a bot; three sales (one refunded); a lead."""
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
    (stats,) = brand.get("/api/v1/programs/stats").json
    return stats


def _summary(brand):
    return brand.get(f"/api/v1/fraud-events/summary?programId={brand.programs[-1]}").json


def _select(stats, *names):
    return {name: stats[name] for name in names}


def test_statistics_count_traffic_and_value_each_currency(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)

    stats = _stats(brand)

    assert _select(stats, "clicks30d", "conversions30d", "sales30d", "leads30d", "paidClicks30d") == {
        "clicks30d": 6,
        "conversions30d": 9,
        "sales30d": 3,
        "leads30d": 1,
        "paidClicks30d": 5,
    }
    # Half of 2000 was refunded; 2000 and five clicks of 30 are a tenth in dollars.
    assert stats["pendingCommissionCents"] == 1_000 + 200 + 15
    assert stats["pendingUnconvertibleByCurrency"] == {UNKNOWN: 2_000}
    assert (stats["availableCommissionCents"], stats["owedEligibleInHomeCents"]) == (0, 0)


def test_budget_is_spent_by_paid_and_validated_clicks(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)
    status_before = _read(brand, "budget-status")
    (held_row,) = brand.get("/api/v1/conversions?status=Invalidated").json["items"]
    brand.person("Manager").post(f"/api/v1/conversions/{held_row['id']}/validate", {})

    status_after = _read(brand, "budget-status")

    assert (status_before["spentCents"], status_before["remainingCents"]) == (15, 85)
    assert status_before["fxUnconvertibleByCurrency"] is None
    assert (status_after["spentCents"], status_after["remainingCents"]) == (18, 82)
    assert _stats(brand)["paidClicks30d"] == 6


def test_tracking_status_matches_the_statistics(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)

    status, stats = _read(brand, "tracking-status"), _stats(brand)

    assert (status["totalClicks30d"], status["totalConversions30d"]) == (stats["clicks30d"], stats["conversions30d"])
    assert (status["verified"], status["lastClickAt"] is not None) == (True, True)


def test_recent_events_list_every_visit_and_conversion(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)

    events = _read(brand, "recent-events?limit=100")

    visits = [event for event in events if event["type"] == "click"]
    rows = {
        (event["conversionType"], event["currency"], event["status"], event["commissionCents"])
        for event in events
        if event["type"] == "conversion"
    }
    assert [event["occurredAt"] for event in events] == sorted((event["occurredAt"] for event in events), reverse=True)
    assert (len(visits), sum(event["isDuplicate"] for event in visits)) == (8, 1)
    assert rows == {
        ("OneTime", "USD", "Pending", 1_000),
        ("OneTime", VALUED, "Pending", 2_000),
        ("OneTime", UNKNOWN, "Pending", 2_000),
        ("LeadReward", "USD", "Pending", 0),
        ("ClickReward", VALUED, "Pending", 150),
        ("ClickReward", VALUED, "Invalidated", 30),
    }


def test_fraud_summary_excludes_validated_clicks(app, brand, slug, drain):
    _traffic(app, brand, slug, drain)
    status_before = _summary(brand)
    (held_row,) = brand.get("/api/v1/conversions?status=Invalidated").json["items"]
    brand.person("Manager").post(f"/api/v1/conversions/{held_row['id']}/validate", {})

    status_after = _summary(brand)

    assert _select(status_before, "blockedClicks", "blockedClicksByReason", "heldClicks", "quarantinedLeads") == {
        "blockedClicks": 1,
        "blockedClicksByReason": {"headless": 1},
        "heldClicks": 1,
        "quarantinedLeads": 0,
    }
    assert (status_before["estimatedNotBilledCents"], status_after["estimatedNotBilledCents"]) == (6, 3)
    assert status_after["heldClicks"] == 1


def test_leads_without_an_exchange_rate_are_excluded_from_totals(brand):
    with paid_leads.configure_human_check(URL="local"):
        slug = paid_leads.create_campaign(brand, fee_currency=UNKNOWN)
        assert paid_leads.send_lead(brand, slug).status_code == 200
        assert paid_leads.send_lead(brand, slug, email="eve@mailinator.com").status_code == 200

    stats, budget, summary = _stats(brand), _read(brand, "budget-status"), _summary(brand)

    assert (stats["leads30d"], stats["pendingCommissionCents"]) == (1, 0)
    assert stats["pendingUnconvertibleByCurrency"] == {UNKNOWN: 500}
    assert (budget["unlimited"], budget["spentCents"]) == (True, 0)
    assert (budget["fxUnconvertibleByCurrency"], budget["fxUnconvertibleCents"]) == ({UNKNOWN: 500}, 500)
    assert (summary["quarantinedLeads"], summary["estimatedNotBilledCents"]) == (1, None)


def test_refused_lead_is_not_quarantined(brand):
    brand.set(leadsPerDay="1")
    with paid_leads.configure_human_check(URL="local"):
        slug = paid_leads.create_campaign(brand)
        for email in ("eve@mailinator.com", "ada@example.org", f"{slug}@example.com"):
            assert paid_leads.send_lead(brand, slug, email=email).status_code == 200

    assert [(row[0], row[2]) for row in paid_leads.list_fraud_events(brand)] == [
        ("held", ["disposable_domain"]),
        ("blocked", ["daily_cap"]),
        ("blocked", ["self_lead", "daily_cap"]),
    ]
    assert _summary(brand)["quarantinedLeads"] == 1
    assert len(brand.get("/api/v1/conversions?status=Invalidated").json["items"]) == 1


def test_budget_rejects_a_lead_without_an_exchange_rate(brand):
    with paid_leads.configure_human_check(URL="local"):
        slug = paid_leads.create_campaign(brand, fee_currency=UNKNOWN, budget_cents=10_000)

        answer = paid_leads.send_lead(brand, slug)

    assert (answer.status_code, answer.json["error"]) == (409, "campaign_budget_reached")
    assert _read(brand, "budget-status")["spentCents"] == 0
    assert (_stats(brand)["leads30d"], _summary(brand)["quarantinedLeads"]) == (0, 0)


def test_validated_quarantined_lead_is_spent(brand):
    with paid_leads.configure_human_check(URL="local"):
        slug = paid_leads.create_campaign(brand, budget_cents=1_000)
        paid_leads.send_lead(brand, slug, email="eve@mailinator.com")
    status_before = (_read(brand, "budget-status")["spentCents"], _summary(brand)["estimatedNotBilledCents"])
    (held_row,) = brand.get("/api/v1/conversions?status=Invalidated").json["items"]
    brand.person("Manager").post(f"/api/v1/conversions/{held_row['id']}/validate", {})

    status_after = (_read(brand, "budget-status")["spentCents"], _summary(brand)["estimatedNotBilledCents"])

    assert (status_before, status_after) == ((0, 500), (500, 0))
    assert (_stats(brand)["leads30d"], _summary(brand)["quarantinedLeads"]) == (1, 1)
