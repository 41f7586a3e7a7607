"""Fraud rules for leads from pages: missing clicks, and bursts from one address.

Source: core spec, "Click and lead fraud review"; tracking spec, "Browser lead capture".
"""

import json
from datetime import timedelta

import pytest

from adapters.clicks import visitors
from domain.fraud.rules import MAX_NETWORK_LEADS_PER_HOUR
from models import db
from models.leads import networks
from pipelines.leads import lifecycle
from tests.support.api.concurrency import run_concurrently
from tests.support.rows import click_rows
from tests.support.rows.leads import BROWSER, slug_of
from tests.support.running.hours import start_of_test

_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_COLUMNS = "subject, action, score, reasons, severity, status, occurrences"


def _send_lead(brand, number, *, slug=None, ip="203.0.113.7", email=None):
    answer = brand.app.test_client().post(
        BROWSER,
        data=json.dumps({"slug": slug or slug_of(brand), "email": email or f"eve-{number}@example.com"}),
        headers={"Content-Type": "text/plain", "User-Agent": _AGENT},
        environ_base={"REMOTE_ADDR": ip},
    )
    assert (answer.status_code, answer.data) == (200, b'{"ok":true}')


def _store_click(brand, *, ip="203.0.113.7", ago=timedelta(minutes=5), **fraud_fields):
    """Store a click of the visitor who sends leads from this address."""
    ((affiliate_id,),) = brand.rows("select id from affiliate order by created_at limit 1")
    raw = click_rows.build_click(brand, affiliate_id, at=start_of_test() - ago, **fraud_fields)
    raw = raw._replace(visitor=visitors.hash_visitor(ip, _AGENT))
    click_rows.write(brand, raw)


def _count_leads(brand):
    """Return the number of open leads and of held leads."""
    count_by_state = dict(brand.rows("select state, count(*)::int from lead group by state"))
    return count_by_state.get("Open", 0), count_by_state.get("Invalidated", 0)


def _list_fraud_events(brand, columns=_COLUMNS):
    return brand.rows(f"select {columns} from fraud_event order by occurred_at")


def test_burst_of_leads_without_a_click_is_held_with_one_fraud_event(shop, drain):
    for number in range(25):
        _send_lead(shop, number)
    drain()

    assert _count_leads(shop) == (MAX_NETWORK_LEADS_PER_HOUR, 25 - MAX_NETWORK_LEADS_PER_HOUR) == (20, 5)
    assert _list_fraud_events(shop) == [("lead", "held", 70, ["no_click", "lead_burst"], "medium", "open", 5)]
    (event,) = shop.get("/api/v1/fraud-events").json
    assert (event["occurrences"], event["reasons"]) == (5, ["no_click", "lead_burst"])
    conversions = shop.rows("select status, commission_cents from conversion where status = 'Invalidated'")
    assert conversions == [("Invalidated", 0)] * 5


def test_burst_with_a_click_is_held_by_the_burst_score_alone(shop, drain):
    _store_click(shop)
    for number in range(MAX_NETWORK_LEADS_PER_HOUR + 1):
        _send_lead(shop, number)
    drain()

    assert _count_leads(shop) == (MAX_NETWORK_LEADS_PER_HOUR, 1)
    assert _list_fraud_events(shop) == [("lead", "held", 50, ["lead_burst"], "medium", "open", 1)]


@pytest.mark.parametrize(
    ("strictness", "has_click", "action"),
    [
        ("lenient", True, None),
        ("lenient", False, "held"),
        ("balanced", True, "held"),
        ("balanced", False, "held"),
        ("strict", True, "held"),
        ("strict", False, "blocked"),
    ],
)
def test_strictness_decides_the_action_on_a_burst(shop, drain, strictness, has_click, action):
    shop.set(fraudStrictness=strictness)
    if has_click:
        _store_click(shop)
    for number in range(MAX_NETWORK_LEADS_PER_HOUR + 1):
        _send_lead(shop, number)
    drain()

    assert _list_fraud_events(shop, "action") == ([(action,)] if action else [])
    assert _count_leads(shop) == ((MAX_NETWORK_LEADS_PER_HOUR, 1) if action else (MAX_NETWORK_LEADS_PER_HOUR + 1, 0))


@pytest.mark.parametrize("strictness", ["lenient", "balanced", "strict"])
def test_lead_is_not_held_for_a_missing_click_alone(shop, drain, strictness):
    shop.set(fraudStrictness=strictness)
    _send_lead(shop, 1)
    drain()

    assert (_count_leads(shop), _list_fraud_events(shop)) == ((1, 0), [])


def test_lead_inherits_the_score_of_the_visitors_last_click(shop, drain):
    _store_click(shop, is_data_centre=True)
    _send_lead(shop, 1)
    drain()

    assert _count_leads(shop) == (0, 1)
    assert _list_fraud_events(shop)[-1] == ("lead", "held", 50, ["data_centre"], "medium", "open", 1)


@pytest.mark.parametrize(
    "click", [{"ip": "198.51.100.9"}, {"ago": timedelta(days=31)}], ids=["of another visitor", "before the window"]
)
def test_click_of_another_visitor_or_before_the_window_is_ignored(shop, drain, click):
    _store_click(shop, **click)
    for number in range(MAX_NETWORK_LEADS_PER_HOUR + 1):
        _send_lead(shop, number)
    drain()

    assert _list_fraud_events(shop, "reasons") == [(["no_click", "lead_burst"],)]


def test_addresses_of_one_network_share_a_count(shop, drain):
    for number in range(MAX_NETWORK_LEADS_PER_HOUR):
        _send_lead(shop, number, ip=f"203.0.113.{number + 1}")
    _send_lead(shop, "far", ip="198.51.100.1")
    drain()
    assert _count_leads(shop) == (MAX_NETWORK_LEADS_PER_HOUR + 1, 0)

    _send_lead(shop, "near", ip="203.0.113.200")
    drain()
    assert _count_leads(shop) == (MAX_NETWORK_LEADS_PER_HOUR + 1, 1)


def test_leads_are_counted_per_affiliate(shop, drain):
    other = f"rob-{shop.id.hex}"
    shop.affiliate(other)
    for number in range(MAX_NETWORK_LEADS_PER_HOUR):
        _send_lead(shop, number)
        _send_lead(shop, number, slug=other)
    drain()

    assert (_count_leads(shop), _list_fraud_events(shop)) == ((2 * MAX_NETWORK_LEADS_PER_HOUR, 0), [])


def test_concurrent_leads_get_distinct_numbers(shop):
    ((affiliate_id,),) = shop.rows("select id from affiliate")

    def count(number):
        with db.unit_of_work(shop.id):
            return networks.count(
                organization_id=shop.id,
                affiliate_id=affiliate_id,
                network=bytes(16),
                email_normalized=f"eve-{number}@example.com",
                is_test=False,
                at=start_of_test(),
            )

    numbers = run_concurrently(*[lambda number=number: count(number) for number in range(6)])

    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]


def test_known_person_is_counted_once(shop, drain):
    for _ in range(MAX_NETWORK_LEADS_PER_HOUR + 5):
        _send_lead(shop, 1)
    _send_lead(shop, 2)
    drain()

    assert (_count_leads(shop), _list_fraud_events(shop)) == ((2, 0), [])


def test_count_restarts_after_an_hour(shop, drain):
    for number in range(MAX_NETWORK_LEADS_PER_HOUR + 1):
        _send_lead(shop, number)
    drain()
    shop.rows("update lead_network set since = since - interval '61 minutes' returning 1")
    _send_lead(shop, "later")
    drain()

    assert _count_leads(shop) == (MAX_NETWORK_LEADS_PER_HOUR + 1, 1)
    assert shop.rows("select leads from lead_network") == [(1,)]


def test_held_lead_credits_no_sale_until_the_brand_validates_it(shop, drain):
    for number in range(MAX_NETWORK_LEADS_PER_HOUR + 1):
        _send_lead(shop, number)
    drain()
    ((held_id, lead_id),) = shop.rows(
        "select c.id, l.id from conversion c join lead l on l.id = c.id where c.status = 'Invalidated'"
    )

    answer = shop.person("Manager").post(f"/api/v1/conversions/{held_id}/validate", {})

    assert answer.status_code == 200, answer.json
    assert shop.rows("select state from lead where id = %s", lead_id) == [("Open",)]


def test_quarantined_free_leads_are_counted_at_zero_cost(shop, drain):
    shop.rows("update program set lead_bounty_cents = 500, lead_bounty_currency = 'USD' returning 1")
    for number in range(MAX_NETWORK_LEADS_PER_HOUR + 3):
        _send_lead(shop, number)
    drain()

    summary = shop.get(f"/api/v1/fraud-events/summary?programId={shop.programs[0]}").json
    assert (summary["quarantinedLeads"], summary["estimatedNotBilledCents"]) == (3, 0)


def test_expired_counts_are_deleted_with_expired_leads(shop, drain):
    _send_lead(shop, 1)
    _send_lead(shop, 2, ip="198.51.100.1")
    drain()
    shop.rows(
        "update lead_network set since = since - interval '3 hours' where network = %s returning 1",
        bytes.fromhex(visitors.hash_network("198.51.100.1")),
    )
    with db.any_org_work():
        lifecycle.any_org_expire(now=start_of_test())

    assert shop.rows("select encode(network, 'hex') from lead_network") == [(visitors.hash_network("203.0.113.7"),)]


def test_signed_leads_are_not_screened(shop, drain):
    for number in range(MAX_NETWORK_LEADS_PER_HOUR + 5):
        answer = shop.post_signed(
            "/api/tracking/lead", {"affiliateSlug": slug_of(shop), "email": f"a{number}@example.com"}
        )
        assert answer.status_code == 200

    assert (_count_leads(shop), _list_fraud_events(shop)) == ((MAX_NETWORK_LEADS_PER_HOUR + 5, 0), [])
