"""Round trips of leads, gateway events and fraud events: one entry each."""

import pytest

from adapters import clock
from api.gateways import inbound
from models import db
from pipelines.gateways import process, reconcile
from pipelines.gateways.booking import sales
from pipelines.leads import lifecycle, page_leads, server_leads
from schemas.leads.lead import LeadBody
from tests.budgets.counting import HotPath
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import dispatch_pointers, drain, run_pointer
from tests.support.platforms import platform_connections as platforms
from tests.support.rows import paid_leads
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.leads import post_browser_lead, slug_of
from tests.support.settings_overrides import override_settings


def _signed_lead(brand, email, **fields):
    posted = LeadBody().load({"affiliateSlug": slug_of(brand), "email": email} | fields)
    with db.unit_of_work(brand.id):
        return server_leads.record(organization_id=brand.id, lead=posted, is_test=False, now=clock.now()).lead_id


def _lead_to_record(brand, *, is_known=False, **fields):
    brand.program()
    brand.affiliate(slug_of(brand))
    _signed_lead(brand, "warm@example.com", **fields)

    def record():
        lead_id = _signed_lead(brand, "warm@example.com" if is_known else "ada@example.com", **fields)
        assert (lead_id is None) == is_known

    return [record]


def _lead_of_a_page(brand):
    brand.program()
    brand.affiliate(slug_of(brand))
    post_browser_lead(brand)
    return [lambda: post_browser_lead(brand)]


def _paid_lead(brand, stack, email):
    stack.enter_context(paid_leads.configure_human_check(URL="local"))
    campaign_slug = paid_leads.create_campaign(brand, budget_cents=10_000)
    for buyer in ("warm@example.org", "known@example.org"):
        paid_leads.send_lead(brand, campaign_slug, email=buyer)
    return [lambda: paid_leads.send_lead(brand, campaign_slug, email=email)]


def _gateway(brand, stack):
    brand.program()
    brand.affiliate("jane")
    gateway = stack.enter_context(play_gateway())
    return gateway, connect_gateway(brand.person("Owner"), gateway)


def _deliver(brand, connection, purchase, stage):
    (delivery, *_) = stage.pay(purchase).notifications
    path = "/" + connection["webhookUrl"].split("/", 3)[3]

    def post():
        assert brand.app.test_client().post(path, data=delivery.body, headers=dict(delivery.headers)).status_code == 200

    return post


def _gateway_event(brand, stack, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 60})
    stage, connection = _gateway(brand, stack)
    _deliver(brand, connection, Purchase(), stage)()
    post = _deliver(brand, connection, Purchase(), stage)
    return [post, post]  # The second call repeats the event.


def _payment_to_book(brand, stack, slug="jane", *, has_platform=False):
    stage, connection = _gateway(brand, stack)
    if has_platform:
        platforms.connect_platform(brand.person("Owner"), stack.enter_context(platforms.play_platform()))
    for buyer in ("1", "2"):
        drain()
        _deliver(brand, connection, Purchase(slug=slug, customer=buyer, email=f"{buyer}@example.com"), stage)()
    (pointer,) = dispatch_pointers(("gateways",))
    return [lambda: run_pointer(pointer)]


def _pages_to_reconcile(brand, stack):
    stage, connection = _gateway(brand, stack)

    def pages():
        drain()
        with db.unit_of_work(brand.id):
            job = reconcile.prepare(
                organization_id=brand.id, connection_id=connection["id"], since=None, now=clock.now()
            )
        totals = reconcile.ReconcileResult()
        for page in reconcile.list_pages(job, totals):
            yield job, page, totals

    def store(job, page, totals):
        with db.unit_of_work(brand.id):
            reconcile.store_page(job, page, totals, now=clock.now())

    calls = []
    for number in (1, 1, 30):
        for buyer in range(number):
            stage.pay(Purchase(customer=f"{number}-{buyer}"))
        calls += [lambda page=page: store(*page) for page in pages()]
    calls[0]()  # A connection of the database prepares its statements once.
    return calls


def _fraud_event(brand):
    brand.program()
    affiliate_id = brand.affiliate("ben")
    record_blocked_click(brand, affiliate_id)
    return [lambda: record_blocked_click(brand, affiliate_id)]


_BOOKING = 1 + 1 + 2 + 1  # the job's lock; the event; the two of a payment; the commit
PATHS = {
    "lead": HotPath(
        _lead_to_record,
        3,
        stated={
            server_leads.record: "Budget: 3 round trips (look up; insert; writes and commit).",
            lifecycle.record: "Budget: 2 round trips (insert; writes and commit).",
        },
    ),
    "lead-known": HotPath(lambda brand: _lead_to_record(brand, is_known=True), 3),
    "lead-known-by-event": HotPath(lambda brand: _lead_to_record(brand, is_known=True, externalEventId="a"), 2),
    "lead-of-page": HotPath(_lead_of_a_page, 1, stated={page_leads.any_org_stage: "Budget: 1 round trip."}),
    # Three transactions read the link, its status and the terms; the fourth reads them again under the
    # budget's lock, and writes: two statements more for a lead that is new.
    "lead-paid": HotPath(lambda brand, stack: _paid_lead(brand, stack, "ada@example.org"), 17),
    "lead-paid-known": HotPath(lambda brand, stack: _paid_lead(brand, stack, "known@example.org"), 17 - 2),
    "gateway-event": HotPath(
        _gateway_event,
        1,
        stated={inbound.take_gateway_event: "Budget: 1 round trip (event, job and commit)"},
        rows=("select count(*) from job where name = 'gateway.event'", 2),
    ),
    "gateway-payment": HotPath(
        _payment_to_book,
        _BOOKING,
        stated={process.prepare: "Budget: 1 round trip (read)", sales.book_payment: "Budget: 2 round trips"},
        rows=("select count(*) from conversion where source = 'stripe'", 2),
    ),
    "gateway-payment-with-platform": HotPath(
        lambda brand, stack: _payment_to_book(brand, stack, has_platform=True),
        _BOOKING,
        rows=("select count(*) from job where name = 'platform.lookup'", 0),
    ),
    "gateway-payment-of-no-affiliate": HotPath(lambda brand, stack: _payment_to_book(brand, stack, None), _BOOKING + 1),
    "gateway-payment-to-look-up": HotPath(
        lambda brand, stack: _payment_to_book(brand, stack, None, has_platform=True),
        _BOOKING + 1,
        rows=("select count(*) from platform_lookup", 2),
    ),
    "reconcile-page": HotPath(_pages_to_reconcile, 2 + 1, stated={reconcile.store_page: "Budget: 2 statements"}),
    "fraud-event": HotPath(_fraud_event, 1 + 2),  # the record with its commit; the test's own query
}


@pytest.mark.parametrize("name", PATHS)
def test_inbound_path_keeps_its_budget(request, brand, name):
    PATHS[name].assert_budget(brand, request)
