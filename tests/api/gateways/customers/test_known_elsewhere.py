"""A customer known from an import, a signed sale or a manual one is the same customer at every gateway.

Source: tracking spec, section 8, step 3; core spec, "Program fields accepted on create or update", rule 4.
"""

from datetime import UTC, datetime, timedelta

import pytest

from domain.gateways.names import Gateway
from tests.api.gateways.conftest import Shop
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand

_COLUMNS = {
    "processorCustomerId": "customer_id",
    "processorSubscriptionId": "subscription_id",
    "customerEmail": "email_normalized",
}
# Stores without subscriptions, and gateways whose payments do not name theirs.
_NAMES_NO_SUBSCRIPTION = {Gateway.Shopify, Gateway.BigCommerce, Gateway.Wix, Gateway.WooCommerce, Gateway.ThriveCart}
_NAMED = [
    (gateway, known_by)
    for gateway in Gateway
    for known_by in _COLUMNS
    if known_by != "processorSubscriptionId" or gateway not in _NAMES_NO_SUBSCRIPTION
]


def _shop(brand: Brand, stage) -> Shop:
    return Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))


def _monthly_program(brand: Brand, **fields) -> None:
    brand.program(default_commission_type="Percentage", default_commission_value=20, **fields)
    brand.affiliate("ben")


@pytest.mark.parametrize(("gateway", "known_by"), _NAMED)
def test_payment_at_a_gateway_credits_the_affiliate_of_an_imported_sale(brand, gateway, known_by):
    _monthly_program(brand)
    with play_gateway(gateway) as stage:
        shop = _shop(brand, stage)
        first = shop.sell(slug=None, cents=10_000)
        shop.wait()
        again = shop.sell(slug=None, cents=10_000, renews=first)
        assert shop.conversions() == []
        column = _COLUMNS[known_by]
        (named, *_) = brand.rows(
            f"select {column}, id from gateway_payment where {column} is not null order by paid_at"
        )

        # What was imported later than the payments came is known for them, too.
        assert import_sales(brand, build_past_sale(**{known_by: named[0]})).status_code == 200
        drain()
        shop.wait()
        shop.sell(slug=None, cents=10_000, renews=again)

    methods = shop.conversions("attribution_method")
    by = "subscription" if (gateway, column) == (Gateway.PayPal, "subscription_id") else "customer"
    ((paid,),) = brand.rows(f"select count(*) from gateway_payment where {column} is not null")
    assert paid >= 2
    # Later ones may be known by what they share with the first.
    assert methods[0] == (f"{gateway}_{by}_history",)
    assert len(methods) == paid


def _import(brand, **customer):
    assert import_sales(brand, build_past_sale(occurredAt="2026-01-31", **customer)).status_code == 200


def _sign(brand, **customer):
    named = {"processorCustomerId": "customerId"}
    sent = {named.get(name, name): value for name, value in customer.items()}
    answer = brand.sale(affiliateSlug="ben", **sent)
    assert answer.status_code == 200, answer.json
    drain()
    brand.rows("update sale set accepted_at = '2026-01-31' returning 1")
    brand.rows("update program_customer set first_paid_at = '2026-01-31', first_sold_at = '2026-01-31' returning 1")


def _record(brand, **customer):
    (ben,) = brand.rows("select id::text from affiliate")
    body = {"programId": str(brand.programs[-1]), "affiliateId": ben[0], "currency": "USD"}
    body |= {"amountCents": 10_000, "kind": "sale", "occurredAt": "2026-01-31T00:00:00Z"}
    answer = brand.person("Manager").post("/api/v1/conversions", body | customer)
    assert answer.status_code == 201, answer.json


@pytest.mark.parametrize(
    ("record", "customer"),
    [
        (_import, {"processorCustomerId": "cus_1"}),
        (_import, {"customerEmail": "Ann+x@Example.com"}),
        (_sign, {"processorCustomerId": "cus_1"}),
        (_sign, {"customerEmail": "ann@example.com"}),
        (_record, {"customerEmail": "ann@example.com"}),
    ],
    ids=["import by id", "import by email", "signed by id", "signed by email", "manual by email"],
)
@pytest.mark.parametrize(
    ("terms", "earned"),
    [
        ({"recurring_months": 3}, 0),
        ({"recurring_months": 24}, 2_000),
        ({"recurring_delay_invoices": 2}, 0),
        ({"recurring_months": 24, "recurring_delay_invoices": 1}, 2_000),
    ],
)
def test_window_and_ordinal_go_on_at_a_gateway(brand, record, customer, terms, earned):
    _monthly_program(brand, **terms)
    with play_gateway() as stage:
        record(brand, **customer)
        shop = _shop(brand, stage)
        shop.sell(slug=None, cents=10_000)

    assert shop.conversions("type, commission_cents, attribution_method") == [
        ("Recurring", earned, "stripe_customer_history")
    ]


def test_window_and_ordinal_go_on_from_a_gateway_to_signed_sales(brand):
    _monthly_program(brand, recurring_delay_invoices=1)
    with play_gateway() as stage:
        shop = _shop(brand, stage)
        shop.sell(slug="ben", cents=10_000)
        connection = shop.connection["id"]
        assert brand.person("Owner").call("DELETE", f"/api/v1/connections/{connection}").status_code == 204
    for event, customer in [("by id", {"customerId": "cus_1"}), ("by email", {"customerEmail": "ann@example.com"})]:
        assert brand.sale(affiliateSlug="ben", externalEventId=event, amountCents=10_000, **customer).status_code == 200
    drain()

    sold = "select external_event_id, type, commission_cents from conversion where source = 's2s' order by occurred_at"
    assert brand.rows(sold) == [("by id", "Recurring", 2_000), ("by email", "Recurring", 2_000)]


def test_ids_of_two_gateways_are_two_customers_and_an_id_without_one_is_the_first_of_them(brand):
    _monthly_program(brand)
    with play_gateway("paddle") as other, play_gateway() as stage:
        shop, others = _shop(brand, stage), Shop(brand, other, connect_gateway(brand.person("Owner"), other))
        other._customer = lambda purchase: f"cus_{purchase.customer}"
        shop.sell(slug="ben", email="one@x.test")
        others.sell(slug="ben", email="two@x.test")
        _import(brand, processorCustomerId="cus_1")

    counted = brand.rows(
        "select customer_key, gateway, payments from program_customer where joined_to is null order by 1"
    )
    assert counted == [("id:cus_1", "stripe", 2), ("of:paddle:cus_1", "paddle", 1)]


@pytest.mark.parametrize(
    ("imported", "expected"),
    [
        ("ann@example.com", [("id:42", 2)]),
        (None, [("id:42", 2)]),
        ("bob@example.com", [("id:42", 1), ("of::42", 1)]),
    ],
)
def test_id_of_digits_is_the_same_customer_where_the_emails_agree_or_one_is_unknown(brand, imported, expected):
    _monthly_program(brand)
    with play_gateway() as stage:
        shop = _shop(brand, stage)
        paid = shop.stage.pay(Purchase(slug="ben"))
        shop.hear(*(shop.changed(sent, customer="42") for sent in paid.notifications))
        _import(brand, processorCustomerId="42", customerEmail=imported)

    known = "select customer_key, payments from program_customer where customer_key not like 'email:%' order by 1"
    assert brand.rows(known) == expected


def test_customer_known_by_email_alone_is_joined_to_who_pays_with_an_id_and_that_email(brand):
    _monthly_program(brand)
    with play_gateway() as stage:
        shop = _shop(brand, stage)
        _import(brand, customerEmail="ann@example.com")
        _import(brand, customerEmail="ann@example.com", externalId="2")
        shop.sell(slug="ben")
        _import(brand, customerEmail="ann@example.com", externalId="3")

    assert brand.rows("select customer_key, payments from program_customer where joined_to is null") == [
        ("id:cus_1", 4)
    ]


def test_undone_import_takes_its_payments_off_the_customer_they_were_joined_to(brand):
    _monthly_program(brand)
    with play_gateway() as stage:
        shop = _shop(brand, stage)
        job = import_sales(brand, build_past_sale(occurredAt="2026-01-31", customerEmail="ann@example.com")).json[
            "jobId"
        ]
        shop.sell(slug="ben")
        answer = brand.person("Admin").post(f"/api/imports/{job}/undo")
        assert answer.status_code == 200, answer.json

    (counted,) = brand.rows("select payments, first_paid_at from program_customer where joined_to is null")
    assert counted[0] == 1
    assert counted[1] > datetime.now(UTC) - timedelta(hours=1)


def test_refunded_and_denied_sales_of_the_past_credit_nobody(brand):
    _monthly_program(brand)
    with play_gateway() as stage:
        shop = _shop(brand, stage)
        _record(brand, customerEmail="ann@example.com")
        brand.rows("update conversion set status = 'Denied' returning 1")
        shop.sell(slug=None)

    assert shop.conversions() == []


def test_sales_of_another_tenant_credit_nobody(brand, rival):
    _monthly_program(brand)
    rival.program()
    rival.affiliate("ben")
    with play_gateway() as stage:
        shop = _shop(brand, stage)
        _import(rival, processorCustomerId="cus_1", customerEmail="ann@example.com")
        shop.sell(slug=None)

    assert shop.conversions() == []
