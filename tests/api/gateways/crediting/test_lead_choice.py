"""The choice of a buyer's lead that credits a payment without another referral.

Source: tracking spec, section 8 "Lead email match window" and "Lead attribution order".
"""

from datetime import UTC, datetime, timedelta

import pytest

from domain import leads
from tests.api.gateways.conftest import Shop
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.gateways.gateway_connections import connect_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.lead_rows import DAY, record_lead
from tests.support.running.hours import start_of_test

_ANN = "ann@example.com"
_LEAD_CAMPAIGN = {"default_commission_model": "Cpl", "default_commission_type": "Fixed", "default_commission_value": 5}


@pytest.fixture
def jane(shop):
    """Return the id of jane, an affiliate; payments are made at the start of the test, in whole seconds."""
    shop.stage.now = start_of_test().replace(microsecond=0)
    shop.change("update gateway_connection set connected_at = connected_at - interval '40 days'")
    ((affiliate_id,),) = shop.brand.rows("select id from affiliate")
    return affiliate_id


def _record_lead(shop, affiliate_id, *, age=DAY, email=_ANN, **options):
    return record_lead(shop.brand, affiliate_id, email, occurred_at=shop.stage.now - age, **options)


def _sell(shop, **purchase):
    """Sell to ann; return the conversion's affiliate and its email step's code, or None without a conversion."""
    shop.sell(slug=None, **purchase)
    conversions = shop.conversions("affiliate_id, attribution_method")
    if not conversions:
        return None
    *_, (conversion_id,) = shop.conversions("id")
    steps = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json["steps"]
    return conversions[-1][0], next(step["code"] for step in steps if step["step"] == "email_match")


def test_newest_lead_is_credited_and_the_older_one_stays_open(shop, jane):
    rob = shop.brand.affiliate("rob")
    older, newer = _record_lead(shop, jane, age=2 * DAY), _record_lead(shop, rob)

    assert _sell(shop) == (rob, "lead_matched")
    assert dict(shop.brand.rows("select id, state from lead")) == {older: "Open", newer: "Converted"}


def test_newer_lead_of_a_lead_campaign_is_skipped(shop, jane):
    _record_lead(shop, jane, age=2 * DAY)
    shop.brand.program(**_LEAD_CAMPAIGN)
    _record_lead(shop, shop.brand.affiliate("rob"))

    assert _sell(shop) == (jane, "lead_matched")


@pytest.mark.parametrize(
    "change",
    [
        "update affiliate set status = 'Paused' where id = %s",
        "update affiliate set status = 'Banned' where id = %s",
        "update affiliate set email = 'ann@example.com', email_normalized = 'ann@example.com' where id = %s",
        "update affiliate set deleted_at = now() where id = %s",
        "update program set archived_at = now() where id = (select program_id from affiliate where id = %s)",
        "update lead set state = 'Invalidated' where affiliate_id = %s",
        "update lead set is_test = true where affiliate_id = %s",
    ],
    ids=["paused", "banned", "own email", "deleted", "closed campaign", "invalidated", "test"],
)
@pytest.mark.parametrize("stage", ["paddle"], indirect=True)
def test_newer_lead_that_cannot_earn_is_skipped(shop, jane, change):
    _record_lead(shop, jane, age=2 * DAY)
    shop.brand.program()
    rob = shop.brand.affiliate("rob")
    _record_lead(shop, rob)
    shop.change(change, rob)

    assert _sell(shop) == (jane, "lead_matched")
    assert shop.brand.rows("select count(*) from uncredited_conversion") == [(0,)]


def test_sale_is_listed_as_uncredited_if_no_lead_can_earn(shop, jane):
    shop.brand.program(**_LEAD_CAMPAIGN)
    _record_lead(shop, shop.brand.affiliate("rob"))
    _record_lead(shop, jane, age=2 * DAY)
    shop.change("update affiliate set status = 'Paused' where id = %s", jane)

    assert _sell(shop) is None
    assert shop.events()[0][2] == "affiliate_not_active"
    assert shop.brand.rows("select affiliate_id, affiliate_status_at_drop from uncredited_conversion") == [
        (jane, "Paused")
    ]


@pytest.mark.parametrize("state", ["Converted", "Expired"])
def test_lead_converted_or_expired_since_still_counts(shop, jane, state):
    _record_lead(shop, jane)
    shop.change("update lead set state = %s, converted_by_conversion_id = id, converted_at = now()", state)

    assert _sell(shop) == (jane, "lead_matched")


def test_another_tenants_lead_credits_no_one(shop, rival):
    rival.program()
    record_lead(rival, rival.affiliate("rob"), _ANN, occurred_at=start_of_test() - DAY)

    assert _sell(shop) is None


@pytest.mark.parametrize(
    ("age", "is_credited"),
    [
        (timedelta(0), True),
        (timedelta(microseconds=-999_999), True),
        (timedelta(seconds=-1), False),
        (90 * DAY - timedelta(seconds=1), True),
        (90 * DAY, False),
    ],
    ids=["same time", "later in the same second", "the next second", "within 90 days", "90 days"],
)
def test_lead_counts_for_ninety_days_and_in_the_second_of_the_payment(shop, jane, age, is_credited):
    _record_lead(shop, jane, age=age)

    assert (_sell(shop) is not None) == is_credited


def _sell_uncredited(shop):
    shop.sell(slug=None, customer="9", email="Ann+x@Example.com")


def _sell_at_another_gateway(shop):
    _sell_uncredited(shop)
    shop.change("update gateway_payment set gateway = 'paypal'")


def _sell_before_the_connection(shop):
    shop.stage.now -= 60 * DAY
    _sell_uncredited(shop)
    shop.stage.now += 60 * DAY
    assert shop.events("reason")[0] == ("before_connection",)


def _sell_for_another_affiliate(shop):
    shop.sell(slug="rob", customer="9")


def _create_manual_sale(shop):
    body = {
        "programId": str(shop.brand.programs[0]),
        "kind": "sale",
        "amountCents": 900,
        "customerEmail": "ANN@example.com",
    }
    ((rob,),) = shop.brand.rows("select id from affiliate where email = 'rob@example.com'")
    response = shop.brand.post(
        "/api/v1/conversions",
        body | {"affiliateId": str(rob), "currency": "USD", "occurredAt": shop.stage.now.isoformat()},
    )
    assert response.status_code == 201, response.json


def _send_signed_sale(shop):
    """Post a signed sale of rob's."""
    shop.change("update organization set connected_gateways = '{}'")
    response = shop.brand.sale(affiliateSlug="rob", customerEmail="ann@example.com", customerId="of-the-shop")
    assert response.status_code == 200, response.json
    drain()
    shop.change("update sale set accepted_at = %s", shop.stage.now)


_EARLIER_SALES = [
    _create_manual_sale,
    _send_signed_sale,
    _sell_uncredited,
    _sell_at_another_gateway,
    _sell_before_the_connection,
    _sell_for_another_affiliate,
]


@pytest.fixture
def rob(shop, jane):
    """Return the id of rob, another affiliate."""
    return shop.brand.affiliate("rob")


def _assert_later_lead_credits_no_one(shop, jane, rob, sell_earlier, **buyer):
    """Sell to the buyer, record a lead of theirs three days later, sell again, and assert that no one is credited."""
    shop.stage.now -= 3 * DAY
    sell_earlier(shop)
    shop.stage.now += 3 * DAY
    shop.change("update affiliate set deleted_at = now() where id = %s", rob)  # so that no customer history is left
    count_before = len(shop.conversions())
    _record_lead(shop, jane)

    shop.sell(slug=None, **buyer)

    assert len(shop.conversions()) == count_before
    assert shop.events("type, reason")[-2][1] == "nobody_referred"
    assert shop.brand.rows("select state from lead") == [("Open",)]


@pytest.mark.parametrize("sell_earlier", _EARLIER_SALES, ids=lambda sell_earlier: sell_earlier.__name__)
def test_lead_after_the_buyers_first_payment_credits_no_one(shop, jane, rob, sell_earlier):
    _assert_later_lead_credits_no_one(shop, jane, rob, sell_earlier, customer="2")


@pytest.mark.parametrize(
    "customer",
    [
        {"customerEmail": "ann+old@example.com", "processorCustomerId": "old-1"},
        {"customerEmail": "bob@example.com", "processorCustomerId": "cus_1"},
        {"processorSubscriptionId": "sub_1"},
    ],
    ids=["email", "customer", "subscription"],
)
def test_lead_after_an_imported_sale_credits_no_one(brand, stage, customer):
    brand.program()
    jane, rob = brand.affiliate("jane"), brand.affiliate("rob")
    shop = Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
    paid_at = (stage.now - 3 * DAY).isoformat()
    row = build_past_sale(affiliateSlug="rob", occurredAt=paid_at, paid=True, **customer)
    assert import_sales(brand, row).status_code == 200
    drain()
    shop.change("update affiliate set deleted_at = now() where id = %s", rob)  # so that no customer history is left
    _record_lead(shop, jane)
    shop.advance_clock()
    shop.sell(slug=None)

    assert brand.rows("select source, type from conversion order by occurred_at") == [
        ("import", "OneTime"),
        ("lead", "LeadReward"),
    ]
    assert shop.events("reason")[0] == ("nobody_referred",)


def _sell_to_the_customer(shop):
    shop.sell(slug=None, email="bob@example.com")


def _sell_to_the_subscriber(shop):
    shop.sell(slug=None, email="bob@example.com")
    shop.change("update gateway_payment set customer_id = 'cus_old'")


def _send_signed_sale_without_email(shop):
    shop.change("update organization set connected_gateways = '{}'")
    assert shop.brand.sale(affiliateSlug="rob", customerId="cus_1").status_code == 200
    drain()
    shop.change("update sale set accepted_at = %s", shop.stage.now)


@pytest.mark.parametrize(
    "sell_earlier",
    [_sell_to_the_customer, _sell_to_the_subscriber, _send_signed_sale_without_email],
    ids=lambda sell_earlier: sell_earlier.__name__,
)
def test_lead_after_a_payment_of_the_same_customer_with_another_email_credits_no_one(shop, jane, rob, sell_earlier):
    _assert_later_lead_credits_no_one(shop, jane, rob, sell_earlier)


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
def test_signed_sale_to_another_person_with_the_same_number_leaves_the_lead_credited(shop, jane, rob):
    shop.stage.now -= 3 * DAY
    shop.change("update organization set connected_gateways = '{}'")
    sale = shop.brand.sale(affiliateSlug="rob", customerId="11", customerEmail="bob@example.com")
    assert sale.status_code == 200
    drain()
    shop.change("update sale set accepted_at = %s", shop.stage.now)
    shop.stage.now += 3 * DAY
    _record_lead(shop, jane)

    shop.sell(slug=None)
    assert shop.conversions("affiliate_id, attribution_method") == [(jane, "email_lead_match")]


def test_lead_before_the_first_payment_precedes_a_newer_one_after_it(shop, jane, rob):
    shop.stage.now -= 3 * DAY
    _sell_uncredited(shop)
    shop.stage.now += 3 * DAY
    _record_lead(shop, jane, age=4 * DAY)
    _record_lead(shop, rob)

    assert _sell(shop, customer="2") == (jane, "lead_matched")


@pytest.mark.parametrize(
    "changes",
    [{"email": "bob@example.com"}, {"is_test": True}, {"cents": 0}],
    ids=["another email", "a test payment", "a zero payment"],
)
def test_earlier_payment_of_other_email_test_or_zero_leaves_the_lead_credited(shop, jane, rob, changes):
    shop.stage.now -= 3 * DAY
    shop.sell(**{"slug": None, "customer": "9"} | changes)
    shop.stage.now += 3 * DAY
    _record_lead(shop, jane)

    shop.sell(slug=None, customer="2")
    assert shop.conversions("affiliate_id, attribution_method") == [(jane, "email_lead_match")]


def test_lead_in_the_second_of_the_first_payment_counts_as_before_it(shop, jane, rob):
    shop.stage.now -= DAY
    _sell_uncredited(shop)
    _record_lead(shop, jane, age=timedelta(microseconds=-700_000))
    shop.stage.now += DAY

    assert _sell(shop, customer="2") == (jane, "lead_matched")


def test_oldest_of_the_hundred_newest_leads_is_credited(shop, jane):
    rob = shop.brand.affiliate("rob", status="Paused")
    _record_lead(shop, jane, age=2 * DAY)
    for number in range(leads.MAX_MATCHED - 1):
        _record_lead(shop, rob, event_id=f"visit-{number}")

    assert _sell(shop) == (jane, "lead_matched")


def test_second_payment_of_a_matched_lead_is_credited_by_history(shop, jane):
    _record_lead(shop, jane)
    shop.sell(slug=None)
    shop.sell(slug=None, customer="2")

    assert shop.conversions("attribution_method") == [("email_lead_match",), ("stripe_customer_history",)]


def test_payment_is_matched_with_the_buyers_trial(shop, jane):
    shop.receive(*shop.stage.start_trial(Purchase(cents=0)))
    shop.stage.now = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)
    shop.sell(slug=None, customer="2")

    assert shop.conversions("affiliate_id, attribution_method") == [(jane, "email_lead_match")]
