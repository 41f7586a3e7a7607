"""A customer of an import, a signed sale or a manual sale is the same customer at every gateway.

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
# Stores without subscriptions, and gateways whose payments do not name their subscription.
_WITHOUT_SUBSCRIPTION = {Gateway.Shopify, Gateway.BigCommerce, Gateway.Wix, Gateway.WooCommerce, Gateway.ThriveCart}
_CASES = [
    (gateway, import_field)
    for gateway in Gateway
    for import_field in _COLUMNS
    if import_field != "processorSubscriptionId" or gateway not in _WITHOUT_SUBSCRIPTION
]


def _connect_shop(brand: Brand, stage) -> Shop:
    return Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))


def _create_program(brand: Brand, **fields) -> None:
    brand.program(default_commission_type="Percentage", default_commission_value=20, **fields)
    brand.affiliate("ben")


@pytest.mark.parametrize(("gateway", "import_field"), _CASES)
def test_gateway_payment_credits_the_affiliate_of_an_imported_sale(brand, gateway, import_field):
    _create_program(brand)
    with play_gateway(gateway) as stage:
        shop = _connect_shop(brand, stage)
        first = shop.sell(slug=None, cents=10_000)
        shop.advance_clock()
        renewal = shop.sell(slug=None, cents=10_000, renews=first)
        assert shop.conversions() == []
        column = _COLUMNS[import_field]
        (identifying_row, *_) = brand.rows(
            f"select {column}, id from gateway_payment where {column} is not null order by paid_at"
        )

        # An import that is later than the payments credits them, too.
        assert import_sales(brand, build_past_sale(**{import_field: identifying_row[0]})).status_code == 200
        drain()
        shop.advance_clock()
        shop.sell(slug=None, cents=10_000, renews=renewal)

    methods = shop.conversions("attribution_method")
    history = "subscription" if (gateway, column) == (Gateway.PayPal, "subscription_id") else "customer"
    ((payment_count,),) = brand.rows(f"select count(*) from gateway_payment where {column} is not null")
    assert payment_count >= 2
    # Later payments may be matched by another field shared with the first.
    assert methods[0] == (f"{gateway}_{history}_history",)
    assert len(methods) == payment_count


def _import_sale(brand, **customer):
    assert import_sales(brand, build_past_sale(occurredAt="2026-01-31", **customer)).status_code == 200


def _send_signed_sale(brand, **customer):
    field_names = {"processorCustomerId": "customerId"}
    fields = {field_names.get(name, name): value for name, value in customer.items()}
    response = brand.sale(affiliateSlug="ben", **fields)
    assert response.status_code == 200, response.json
    drain()
    brand.rows("update sale set accepted_at = '2026-01-31' returning 1")
    brand.rows("update program_customer set first_paid_at = '2026-01-31', first_sold_at = '2026-01-31' returning 1")


def _create_manual_sale(brand, **customer):
    (ben,) = brand.rows("select id::text from affiliate")
    body = {"programId": str(brand.programs[-1]), "affiliateId": ben[0], "currency": "USD"}
    body |= {"amountCents": 10_000, "kind": "sale", "occurredAt": "2026-01-31T00:00:00Z"}
    response = brand.person("Manager").post("/api/v1/conversions", body | customer)
    assert response.status_code == 201, response.json


@pytest.mark.parametrize(
    ("create_sale", "customer"),
    [
        (_import_sale, {"processorCustomerId": "cus_1"}),
        (_import_sale, {"customerEmail": "Ann+x@Example.com"}),
        (_send_signed_sale, {"processorCustomerId": "cus_1"}),
        (_send_signed_sale, {"customerEmail": "ann@example.com"}),
        (_create_manual_sale, {"customerEmail": "ann@example.com"}),
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
def test_window_and_payment_number_continue_at_a_gateway(brand, create_sale, customer, terms, earned):
    _create_program(brand, **terms)
    with play_gateway() as stage:
        create_sale(brand, **customer)
        shop = _connect_shop(brand, stage)
        shop.sell(slug=None, cents=10_000)

    assert shop.conversions("type, commission_cents, attribution_method") == [
        ("Recurring", earned, "stripe_customer_history")
    ]


def test_payment_number_continues_from_gateway_to_signed_sales(brand):
    _create_program(brand, recurring_delay_invoices=1)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        shop.sell(slug="ben", cents=10_000)
        connection = shop.connection["id"]
        assert brand.person("Owner").call("DELETE", f"/api/v1/connections/{connection}").status_code == 204
    for event, customer in [("by id", {"customerId": "cus_1"}), ("by email", {"customerEmail": "ann@example.com"})]:
        assert brand.sale(affiliateSlug="ben", externalEventId=event, amountCents=10_000, **customer).status_code == 200
    drain()

    statement = (
        "select external_event_id, type, commission_cents from conversion where source = 's2s' order by occurred_at"
    )
    assert brand.rows(statement) == [("by id", "Recurring", 2_000), ("by email", "Recurring", 2_000)]


def test_same_id_at_two_gateways_is_two_customers_and_imports_join_the_first(brand):
    _create_program(brand)
    with play_gateway("paddle") as paddle, play_gateway() as stage:
        shop, paddle_shop = (
            _connect_shop(brand, stage),
            Shop(brand, paddle, connect_gateway(brand.person("Owner"), paddle)),
        )
        paddle._customer = lambda purchase: f"cus_{purchase.customer}"
        shop.sell(slug="ben", email="one@x.test")
        paddle_shop.sell(slug="ben", email="two@x.test")
        _import_sale(brand, processorCustomerId="cus_1")

    customers = brand.rows(
        "select customer_key, gateway, payments from program_customer where joined_to is null order by 1"
    )
    assert customers == [("id:cus_1", "stripe", 2), ("of:paddle:cus_1", "paddle", 1)]


@pytest.mark.parametrize(
    ("imported_email", "expected"),
    [
        ("ann@example.com", [("id:42", 2)]),
        (None, [("id:42", 2)]),
        ("bob@example.com", [("id:42", 1), ("of::42", 1)]),
    ],
)
def test_numeric_id_is_one_customer_unless_the_emails_differ(brand, imported_email, expected):
    _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        sale = shop.stage.pay(Purchase(slug="ben"))
        shop.receive(*(shop.replace_fields(notification, customer="42") for notification in sale.notifications))
        _import_sale(brand, processorCustomerId="42", customerEmail=imported_email)

    statement = "select customer_key, payments from program_customer where customer_key not like 'email:%' order by 1"
    assert brand.rows(statement) == expected


def test_customer_known_by_email_is_joined_to_a_payer_with_id_and_email(brand):
    _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        _import_sale(brand, customerEmail="ann@example.com")
        _import_sale(brand, customerEmail="ann@example.com", externalId="2")
        shop.sell(slug="ben")
        _import_sale(brand, customerEmail="ann@example.com", externalId="3")

    assert brand.rows("select customer_key, payments from program_customer where joined_to is null") == [
        ("id:cus_1", 4)
    ]


def test_undone_import_reduces_the_payments_of_the_joined_customer(brand):
    _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        job_id = import_sales(brand, build_past_sale(occurredAt="2026-01-31", customerEmail="ann@example.com")).json[
            "jobId"
        ]
        shop.sell(slug="ben")
        response = brand.person("Admin").post(f"/api/imports/{job_id}/undo")
        assert response.status_code == 200, response.json

    (customer,) = brand.rows("select payments, first_paid_at from program_customer where joined_to is null")
    assert customer[0] == 1
    assert customer[1] > datetime.now(UTC) - timedelta(hours=1)


def test_denied_earlier_sale_credits_no_one(brand):
    _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        _create_manual_sale(brand, customerEmail="ann@example.com")
        brand.rows("update conversion set status = 'Denied' returning 1")
        shop.sell(slug=None)

    assert shop.conversions() == []


def test_another_tenants_sales_credit_no_one(brand, rival):
    _create_program(brand)
    rival.program()
    rival.affiliate("ben")
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        _import_sale(rival, processorCustomerId="cus_1", customerEmail="ann@example.com")
        shop.sell(slug=None)

    assert shop.conversions() == []


def _import_subscription(brand, **fields):
    """Import a first payment of which nothing but the subscription is known."""
    response = import_sales(brand, build_past_sale(occurredAt="2026-01-31", processorSubscriptionId="sub_1", **fields))
    assert response.status_code == 200, response.json
    return response.json["jobId"]


@pytest.mark.parametrize(
    ("terms", "earned"),
    [
        ({"recurring_months": 3}, [0, 0]),
        ({"recurring_months": 24}, [2_000, 2_000]),
        ({"recurring_delay_invoices": 2}, [0, 2_000]),
    ],
)
@pytest.mark.parametrize("buyer", [{}, {"email": None}, {"customer": ""}], ids=["id and email", "id", "email"])
def test_window_and_payment_number_continue_for_an_imported_subscription(brand, terms, earned, buyer):
    _create_program(brand, **terms)
    with play_gateway() as stage:
        _import_subscription(brand)
        shop = _connect_shop(brand, stage)
        for _ in range(2):
            sale = shop.stage.pay(Purchase(slug=None, cents=10_000, email=buyer.get("email", "ann@example.com")))
            customer = buyer.get("customer", "cus_1") or None
            (invoice, *_) = sale.notifications
            invoice = shop.replace_fields(invoice, customer=customer, **_name_subscription())
            shop.receive(invoice)
            shop.advance_clock()

    assert shop.conversions("type, commission_cents, attribution_method") == [
        ("Recurring", cents, "stripe_customer_history") for cents in earned
    ]
    assert brand.rows("select payments from program_customer where joined_to is null") == [(3,)]


def _name_subscription():
    """Return the fields by which an invoice names the subscription of `_import_subscription`."""
    return {"parent": {"subscription_details": {"subscription": "sub_1", "metadata": {}}}}


def test_subscription_imported_after_the_first_payment_joins_with_the_next(brand):
    _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        first = shop.sell(slug="ben")
        brand.rows("update gateway_payment set subscription_id = 'sub_1' returning 1")
        _import_subscription(brand)
        shop.advance_clock()
        (invoice, *_) = shop.stage.pay(Purchase(slug=None, renews=first)).notifications
        shop.receive(shop.replace_fields(invoice, **_name_subscription()))
        _import_subscription(brand, externalId="2")

    assert shop.conversions("type") == [("OneTime",), ("Recurring",)]
    assert brand.rows("select payments, customer_key from program_customer where joined_to is null") == [
        (4, "id:cus_1")
    ]


@pytest.mark.parametrize("is_paid", [True, False])
def test_undone_import_of_a_subscription_reduces_the_payments_of_its_customer(brand, is_paid):
    _create_program(brand)
    with play_gateway() as stage:
        shop = _connect_shop(brand, stage)
        job_id = _import_subscription(brand)
        if is_paid:
            (invoice, *_) = shop.stage.pay(Purchase(slug=None)).notifications
            shop.receive(shop.replace_fields(invoice, **_name_subscription()))
        response = brand.person("Admin").post(f"/api/imports/{job_id}/undo")
        assert response.status_code == 200, response.json

    rows = brand.rows("select payments, first_paid_at > now() - interval '1 hour' from program_customer")
    assert [row for row in rows if row[0]] == ([(1, True)] if is_paid else [])
    assert is_paid or not rows
