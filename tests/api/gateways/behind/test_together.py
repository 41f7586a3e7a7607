"""Events that are booked together end as those booked one after another, whatever they have to do with each other."""

import random
from datetime import timedelta
from decimal import Decimal

import pytest

from adapters import clock
from domain import jobs
from models import db
from models.programs import performance_tiers
from pipelines import work
from tests.api.gateways.conftest import Shop
from tests.support import books
from tests.support.coupons import code, coupon
from tests.support.draining import drain_behind
from tests.support.gateways.playing import connected
from tests.support.gateways.stage import Purchase
from tests.support.rows import lead_rows
from workers.behind.alone import alone

_SEEDS = range(4)
_PURCHASES = 40
# Whose gateway has to be asked names nobody; the names by which others wait for it are told all the same.
_SLUGS = ("ann", "ann", "ann", "ben", "ben", "cid", "dot", None, "nobody")
_INBOXES = ("ada@x.test", "bob@x.test", "cy@x.test")

_WHO = "(select split_part(a.email, '@', 1) from affiliate a where a.id = affiliate_id)"
_WHICH = "(select c.external_event_id from conversion c where c.id = conversion_id)"
_PAID = "(select p.external_id from gateway_payment p where p.id = payment_id)"
# What is the same at two brands: who, what and how much, but no id of a row and no time of its own.
# Events that are woken together go on in any order: what goes back may come before its payment is credited, or after.
_SEEN = {
    "events": """select event_key, status, error, facts, raw is not null,
      case type when 'invoice.paid' then reason end, case type when 'invoice.paid' then cardinality(conversion_ids) end
      from gateway_event""",
    "payments": f"""select external_id, {_WHICH}, reason, paid_cents, refunded_cents, currency, customer_id,
      email_normalized, subscription_id, is_test, paid_at from gateway_payment""",
    "aliases": f"select alias, {_PAID} from gateway_alias",
    "parked": "select alias from gateway_parked",
    "refunds": f"select {_PAID}, refund_id, refunded_cents from gateway_refund",
    "referrals": "select subject, origin from gateway_referral",
    "customers": "select customer_key, first_paid_at, payments from program_customer",
    "codes": "select code, redemption_count, last_redeemed_at from affiliate_coupon",
    "uncredited": f"select external_event_id, {_WHO}, amount_cents, reason from uncredited_conversion",
    "conversions": f"""select split_part(external_event_id, ':', 1), source, {_WHO}, amount_cents, currency,
      commission_cents, refunded_cents, reversed_cents, status, type, rate_source, rate_type, rate_value, is_test,
      attribution_method, sub_id, coupon_code, affiliate_coupon_id is null, processor_customer_id,
      processor_subscription_id, customer_email, customer_name, customer_avatar_url, payout_locked,
      disputed_at is null, occurred_at, hold_until, cardinality(attribution_log)
      from conversion where source <> 'lead'""",
    "history": f"select split_part({_WHICH}, ':', 1), event_type, amount_cents, commission_cents from conversion_event",
    "ledger": f"select {_WHO}, split_part({_WHICH}, ':', 1), kind, amount_cents, currency, is_test from ledger_entry",
    "revenue": f"select {_WHO}, currency, day, net_cents::bigint from affiliate_revenue",
    "leads": f"select email, state, {_WHICH.replace('conversion_id', 'converted_by_conversion_id')} from lead",
    "days": f"""select {_WHO}, currency, sum(leads)::int, sum(sales)::int, sum(refunds)::int,
      sum(revenue_cents)::bigint, sum(refunded_cents)::bigint, sum(commission_cents)::bigint
      from day_change group by affiliate_id, currency""",
    "deliveries": "select event_type, status, count(*)::int from delivery group by event_type, status",
    "jobs": "select name, attempt, failed_at is null, count(*)::int from job group by 1, 2, 3",
}


def _furnish(brand):
    """Make a plain campaign with a recruit and a paused affiliate, one with tiers, a code, leads and an endpoint."""
    brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=Decimal(10), recurring_months=2)
    ann = brand.affiliate("ann")
    ben = brand.affiliate("ben", recruited_by_affiliate_id=ann)
    brand.affiliate("cid", status="Paused")
    tiered = brand.program()
    brand.affiliate("dot")
    with db.unit_of_work(brand.id):
        tiers = [
            performance_tiers.ProgramTier(least, "Percentage", Decimal(percent), "USD")
            for least, percent in ((0, 5), (5_000, 20))
        ]
        performance_tiers.stage_replacement(organization_id=brand.id, program_id=tiered, tiers=tiers)
    lead_rows.record(brand, ann, "ada@x.test", occurred_at=clock.now() - timedelta(days=2), sub_id="of the lead")
    brand.endpoint("https://hooks.test/all")
    return ben


def _redeeming(shop, sent, text):
    """Return an invoice with a code and all that it says, so that nobody has to be asked."""
    promotion = {"id": f"promo_{text}", "object": "promotion_code", "active": True, "code": text}
    return shop.changed(sent, discounts=[{"id": "di_1", "object": "discount", "promotion_code": promotion}])


def _checkout(shop, customer, slug):
    session = {"id": f"cs_{shop.stage.number()}", "object": "checkout.session", "mode": "subscription"}
    session |= {"payment_status": "paid", "customer": f"cus_{customer}", "subscription": f"sub_{customer}"}
    return shop.event("checkout.session.completed", session | {"client_reference_id": slug})


def _guest(shop, email, slug, **paid):
    """Return a checkout of somebody without an account, who pays at once or has nothing to pay."""
    session = {"id": f"cs_{shop.stage.number()}", "object": "checkout.session", "mode": "payment", "livemode": True}
    session |= {"payment_status": "paid", "customer_details": {"email": email, "name": "Guest"}}
    return shop.event("checkout.session.completed", session | {"client_reference_id": slug} | paid)


def _told(shop, seed):
    """Return what a gateway tells in a while: payments, what belongs to them, what goes back, and what is no matter."""
    chance = random.Random(seed)
    told = []
    for number in range(_PURCHASES):
        shop.wait()
        customer = f"{seed}-{chance.randint(1, 30)}"
        sale = shop.stage.pay(
            Purchase(
                cents=chance.choice((0, 1, 999, 10_000, 10_000, 40_000)),
                currency=chance.choice(("USD", "USD", "JPY")),
                slug=chance.choice(_SLUGS),
                email=chance.choice(_INBOXES) if chance.random() < 0.2 else f"{customer}@x.test",
                customer=customer,
                is_test=chance.random() < 0.1,
                code="SAVE-15" if chance.random() < 0.1 else None,  # its gateway is asked before anything is known
            )
        )
        invoice, alias = sale.sent
        if chance.random() < 0.2:
            invoice = _redeeming(shop, invoice, "SAVE-15")
        told += chance.sample([invoice, alias], 2)
        if chance.random() < 0.2:
            told.append(_checkout(shop, customer, chance.choice(("ann", "ben"))))
        if chance.random() < 0.25 and sale.purchase.cents > 1:
            shop.wait()
            told += shop.stage.refund(sale, chance.choice((1, sale.purchase.cents - 1, sale.purchase.cents)))
        elif chance.random() < 0.15 and sale.purchase.cents:  # of two that take back, the first woken takes its own
            told += shop.stage.dispute(sale, chance.choice(("opened", "lost")))
        if chance.random() < 0.2:
            inbox, intent = f"guest-{chance.randint(1, 6)}@x.test", f"pi_guest_{number}"
            told.append(_guest(shop, inbox, chance.choice(("ann", "ben", None))))
            shop.wait()
            told.append(_guest(shop, inbox, None, payment_intent=intent, amount_total=700, currency="usd"))
        if chance.random() < 0.2:
            told.append(shop.stage.unknown())
        if number == _PURCHASES // 2:
            told.append(shop.stage.malformed())
    return told


def _seen(brand):
    return {what: sorted(map(repr, brand.rows(sql))) for what, sql in _SEEN.items()}


def _job_again(shop, *places):
    """Ask for events a second time, as a replay does that comes while they wait."""
    told = shop.events("id")
    with db.unit_of_work(shop.brand.id):
        for place in places:
            work.enqueue(jobs.GATEWAY_EVENT, organization_id=shop.brand.id, event_id=told[place][0])


@pytest.fixture
def both(brand, rival, stage):
    """Return two brands that have the same, behind one account of stripe."""
    shops = []
    for one in (brand, rival):
        ben = _furnish(one)
        connection = connected(one.person("Owner"), stage)
        # One account has one code of a text.
        code(one, ben, coupon(one, overridesClickAttribution=False)["id"])
        with db.unit_of_work(one.id):
            db.db.run("update affiliate_coupon set code = 'SAVE-15'")
            db.db.run("update gateway_connection set connected_at = connected_at - interval '1 hour'")
        shops.append((one, connection))
    return [Shop(one, stage, connection) for one, connection in shops]


@pytest.mark.parametrize("seed", _SEEDS)
def test_events_booked_together_end_as_those_booked_one_after_another(both, seed, monkeypatch):
    single, behind = both
    # Nothing is ever taken along at the one, whatever is due at the other, however little of it is done.
    monkeypatch.setattr(alone, "keys", lambda job: [str(single.brand.id)])
    # A payment that is dated more than a minute ahead is dated by its event, which comes at another time to each brand.
    single.stage.now -= timedelta(seconds=40)
    told = _told(single, seed)
    messages = []
    for shop, at_once in ((single, 1_000), (behind, 1)):
        assert set(shop.deliver(*told)) == {200}
        _job_again(shop, 0, 7, 20)
        messages.append(drain_behind("gateways", at_once=at_once))

    singly, together = _seen(single.brand), _seen(behind.brand)
    for what, rows in singly.items():
        assert rows == together[what], what
    assert messages[1] < messages[0], messages
    assert len(singly["conversions"]) > 5
    assert [books.broken(shop.brand.id, is_finished=False) for shop in both] == [[], []]
