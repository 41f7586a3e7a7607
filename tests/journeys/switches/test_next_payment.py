"""The next payment of a customer whom a switch brought credits their former affiliate, in whichever way it comes.

Source: the switch-over rules, "Who is credited next", "First payment and ordinals", "Both systems at once".
"""

from datetime import UTC, datetime, timedelta

import pytest

from domain.gateways.names import Gateway
from tests.api.gateways.conftest import Shop
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.job_queues import drain
from tests.support.switches.brought_rows import CUT_OVER_AT, SEEN_AT, bring_customer, insert_switch

# Stores without subscriptions, and gateways whose payments do not name their subscription.
_WITHOUT_SUBSCRIPTION = {Gateway.Shopify, Gateway.BigCommerce, Gateway.Wix, Gateway.WooCommerce, Gateway.ThriveCart}
_COLUMNS = {"customer_id": "customer_id", "subscription_id": "subscription_id", "email": "email_normalized"}
_CASES = [
    (gateway, name)
    for gateway in Gateway
    for name in _COLUMNS
    if name != "subscription_id" or gateway not in _WITHOUT_SUBSCRIPTION
]


def _connect_shop(brand, stage):
    return Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))


def _create_program(brand, **fields):
    brand.program(default_commission_type="Percentage", default_commission_value=20, **fields)
    return brand.affiliate("ben")


@pytest.mark.parametrize(("gateway", "name"), _CASES)
def test_payment_credits_the_former_affiliate_by_one_name_alone(brand, gateway, name):
    ben = _create_program(brand)
    with play_gateway(gateway) as stage:
        shop = _connect_shop(brand, stage)
        first = shop.sell(slug=None, cents=10_000)
        shop.advance_clock()
        shop.sell(slug=None, cents=10_000, renews=first)  # the first payment may name no subscription
        assert shop.conversions() == []
        column = _COLUMNS[name]
        statement = f"select {column} from gateway_payment where {column} is not null order by paid_at"
        ((value,), *_) = brand.rows(statement)

        bring_customer(brand, ben, payments=2, **{name: value})
        drain()

    history = "subscription" if (gateway, name) == (Gateway.PayPal, "subscription_id") else "customer"
    conversions = shop.conversions("affiliate_id, type, attribution_method")
    assert conversions[0] == (ben, "Recurring", f"{gateway}_{history}_history")
    assert len(conversions) == len(brand.rows(f"select from gateway_payment where {column} = %s", value))


_NAMES = {"by id": {"customer_id": "cus_1"}, "by email": {"email": "Ann+x@Example.com"}}


@pytest.mark.parametrize("names", _NAMES.values(), ids=_NAMES)
@pytest.mark.parametrize(
    ("terms", "earned"),
    [
        ({"recurring_months": 3}, 0),
        ({"recurring_months": 24}, 2_000),
        ({"recurring_delay_invoices": 4}, 0),
        ({"recurring_delay_invoices": 3}, 2_000),
    ],
)
@pytest.mark.parametrize("door", ["gateway", "signed sale"])
def test_window_and_payment_number_continue(brand, names, terms, earned, door):
    ben = _create_program(brand, **terms)
    bring_customer(brand, ben, payments=3, **names)

    if door == "gateway":
        with play_gateway() as stage:
            _connect_shop(brand, stage).sell(slug=None, cents=10_000)
    else:
        customer = {"customerId": "cus_1"} if "customer_id" in names else {"customerEmail": "ann@example.com"}
        assert brand.sale(affiliateSlug="ben", **customer).status_code == 200
        drain()

    assert brand.rows("select type, commission_cents from conversion") == [("Recurring", earned)]


def test_subscription_leads_to_the_count_of_a_customer_with_another_id(brand):
    ben = _create_program(brand, recurring_delay_invoices=3)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        first = shop.sell(slug=None, cents=10_000, email=None)
        ((subscription,),) = brand.rows("select subscription_id from gateway_payment")
        bring_customer(brand, ben, payments=3, customer_id="account-7", subscription_id=subscription)
        drain()
        shop.advance_clock()
        shop.sell(slug=None, cents=10_000, email=None, renews=first)
    # The former id and the gateway's are one customer from now on.
    sale = build_past_sale(processorCustomerId="account-7", occurredAt="2026-08-01", affiliateSlug="ben")
    assert import_sales(brand, sale).status_code == 200

    assert shop.conversions("type, commission_cents") == [("Recurring", 2_000)] * 2
    assert brand.rows("select payments from program_customer where payments > 0") == [(6,)]


def test_email_passes_the_count_on_through_a_subscription(brand):
    ben = _create_program(brand, recurring_delay_invoices=2)
    bring_customer(brand, ben, payments=2, email="ann@example.com", subscription_id="sub_9")
    first = build_past_sale(customerEmail="ann@example.com", processorCustomerId="cus_1", externalId="a")
    assert import_sales(brand, first).status_code == 200
    # By now the subscription leads to the email, and the email to the id.
    second = build_past_sale(processorSubscriptionId="sub_9", externalId="b")
    assert import_sales(brand, second).status_code == 200

    assert brand.rows("select customer_key, payments from program_customer where payments > 0") == [("id:cus_1", 4)]


def test_two_customers_of_one_email_stay_two(brand):
    ben = _create_program(brand, recurring_delay_invoices=3)
    eva = brand.affiliate("eva")
    switch_id = insert_switch(brand)
    bring_customer(brand, ben, payments=5, customer_id="cus_1", email="ann@example.com", switch_id=switch_id)
    bring_customer(brand, eva, payments=1, customer_id="cus_2", email="ann@example.com", switch_id=switch_id)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        for customer in ("1", "2"):
            shop.sell(slug=None, cents=10_000, customer=customer)
            shop.advance_clock()

    assert shop.conversions("affiliate_id, commission_cents") == [(ben, 2_000), (eva, 0)]


@pytest.mark.parametrize("names", _NAMES.values(), ids=_NAMES)
def test_lead_who_pays_first_here_credits_the_affiliate_without_a_time_limit(brand, names):
    ben = _create_program(brand)
    bring_customer(brand, ben, seen_at=datetime(2020, 1, 1, tzinfo=UTC), **names)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug=None, cents=10_000)

    assert shop.conversions("affiliate_id, type, commission_cents, attribution_method") == [
        (ben, "OneTime", 2_000, "stripe_customer_history")
    ]


@pytest.mark.parametrize("status", ["Paused", "Pending", "Rejected", "Banned"])
def test_affiliate_who_is_not_approved_is_listed_as_uncredited(brand, status):
    brand.program()
    ben = brand.affiliate("ben", status=status)
    bring_customer(brand, ben, payments=1, customer_id="cus_1")
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug=None, cents=10_000)

    assert shop.conversions() == []
    assert brand.rows("select affiliate_id, reason from uncredited_conversion") == [(ben, "affiliate_not_active")]
    assert ("affiliate_not_active",) in shop.events("reason")


@pytest.mark.parametrize(
    "close", ["update program set is_active = false returning 1", "update affiliate set deleted_at = now() returning 1"]
)
def test_closed_program_or_deleted_affiliate_earns_nothing(brand, close):
    ben = _create_program(brand)
    bring_customer(brand, ben, payments=1, customer_id="cus_1")
    brand.rows(close)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug=None, cents=10_000)

    assert shop.conversions() == []


def test_referral_in_the_payment_wins_over_the_former_affiliate(brand):
    ben = _create_program(brand)
    eva = brand.affiliate("eva")
    bring_customer(brand, ben, payments=1, customer_id="cus_1")
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug="eva", cents=10_000)
        shop.advance_clock()
        shop.sell(slug=None, cents=10_000)

    # The payment here is newer evidence than the former system's.
    assert shop.conversions("affiliate_id") == [(eva,), (eva,)]


def test_newest_evidence_credits(brand):
    ben = _create_program(brand)
    eva = brand.affiliate("eva")
    bring_customer(brand, ben, payments=1, email="ann@example.com")
    bring_customer(brand, eva, payments=1, email="ann@example.com", seen_at=SEEN_AT - timedelta(days=1))
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug=None, cents=10_000, customer="7")

    assert shop.conversions("affiliate_id") == [(ben,)]


def test_id_of_digits_with_another_email_is_another_customer(brand):
    ben = _create_program(brand)
    bring_customer(brand, ben, payments=1, customer_id="1", email="other@example.com")
    with play_gateway("shopify") as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug=None, cents=10_000)
        ((customer_id,),) = brand.rows("select customer_id from gateway_payment")
        assert customer_id.isdigit()
        bring_customer(brand, ben, payments=1, customer_id=customer_id, email="third@example.com")
        drain()

    assert shop.conversions() == []


def test_customer_of_another_tenant_credits_no_one(brand, rival):
    rival.program()
    bring_customer(rival, rival.affiliate("eva"), payments=1, customer_id="cus_1", email="ann@example.com")
    _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug=None, cents=10_000)

    assert shop.conversions() == []


def test_conversions_of_a_switch_do_not_credit(brand):
    """The former system moved the customer: the affiliate of the older commission is not credited any more."""
    _create_program(brand)
    eva = brand.affiliate("eva")
    sale = build_past_sale(processorCustomerId="cus_1", customerEmail="ann@example.com", affiliateSlug="ben")
    assert import_sales(brand, sale).status_code == 200
    switch_id = insert_switch(brand)
    brand.rows("update conversion set switch_id = %s returning 1", switch_id)
    bring_customer(brand, eva, switch_id=switch_id, customer_id="cus_1", seen_at=datetime(2020, 1, 1, tzinfo=UTC))
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug=None, cents=10_000)

    assert shop.conversions("affiliate_id") == [(eva,)]


def test_payment_before_the_cut_over_books_nothing(brand):
    ben = _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        bring_customer(brand, ben, payments=1, customer_id="cus_1", cut_over_at=stage.now + timedelta(seconds=9))
        shop.sell(slug="ben", cents=10_000)
        assert ("before_switch",) in shop.events("reason")
        assert shop.conversions() == []

        stage.now += timedelta(seconds=10)
        shop.sell(slug=None, cents=10_000)

    assert len(shop.conversions()) == 1


def test_payment_before_the_cut_over_that_credited_no_one_stays_so(brand):
    ben = _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        sale = shop.sell(slug=None, cents=10_000)
        bring_customer(brand, ben, payments=1, customer_id="cus_1", cut_over_at=stage.now + timedelta(hours=1))
        drain()
        shop.receive(*sale.notifications)

    assert shop.conversions() == []


@pytest.mark.parametrize("has_signed_sale", [False, True])
def test_payment_between_cut_over_and_connection_counts_unless_signed_sales_do(brand, has_signed_sale):
    ben = _create_program(brand)
    bring_customer(brand, ben, payments=1, customer_id="cus_1", email="ann@example.com", seen_at=CUT_OVER_AT)
    if has_signed_sale:
        assert brand.sale(affiliateSlug="ben", customerId="cus_1").status_code == 200
        drain()
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        stage.now = CUT_OVER_AT + timedelta(days=1)
        shop.sell(slug=None, cents=10_000)

    assert len(shop.conversions()) == (0 if has_signed_sale else 1)
    assert (("before_connection",) in shop.events("reason")) == has_signed_sale
