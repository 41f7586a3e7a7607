"""On net basis a sale counts without tax and shipping, and a refund by its share of the amount paid."""

import json

import pytest

from tests.support.gateways.stage import Purchase


@pytest.fixture
def pay_with_tax(shop):
    """Return a function that books a payment of 11900 cents, 1900 of them tax."""

    def pay(**fields):
        sale = shop.stage.pay(Purchase(cents=11_900, **fields))
        invoice, alias = sale.notifications
        event = json.loads(invoice.body)
        event["data"]["object"] |= {"total": 11_900, "total_excluding_tax": 10_000}
        shop.receive(shop.stage.sign_body(json.dumps(event).encode()), alias)
        return sale

    return pay


def test_owner_sets_and_reads_the_commission_basis(shop, pay_with_tax):
    assert shop.brand.person("Owner").get("/api/organizations/me").json["commissionBasis"] == "gross"
    pay_with_tax()
    response = shop.brand.person("Owner").call("PATCH", "/api/organizations/me", {"commissionBasis": "net"})
    assert (response.status_code, response.json["commissionBasis"]) == (200, "net")
    pay_with_tax(customer="2", email="bob@example.com")
    assert sorted(shop.conversions("amount_cents, commission_cents")) == [(10_000, 2_000), (11_900, 2_380)]

    response = shop.brand.person("Admin").call("PATCH", "/api/organizations/me", {"commissionBasis": "gross"})
    assert response.status_code == 403


def test_operator_sets_the_commission_basis(shop):
    shop.brand.set(commissionBasis="net")
    assert shop.brand.person("Owner").get("/api/organizations/me").json["commissionBasis"] == "net"


def test_refunds_are_scaled_to_the_basis_and_the_last_takes_the_remainder(shop, pay_with_tax):
    shop.brand.set(commissionBasis="net")
    sale = pay_with_tax()
    totals = []
    for cents in (1, 4_000, 7_899):
        shop.receive(*shop.stage.refund(sale, cents))
        totals += shop.conversions("refunded_cents, reversed_cents, status")
    assert totals == [(1, 0, "Pending"), (3_362, 672, "Pending"), (10_000, 2_000, "Refunded")]
    assert [data["refundedAmountCents"] for data in shop.list_webhook_data("conversion.refunded")] == [1, 3_361, 6_638]

    shop.receive(*shop.stage.restore(sale, 7_899))
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(3_362, 672, "Pending")]


def test_zero_basis_sale_is_refunded_only_by_its_full_refund(shop, pay_with_tax):
    shop.brand.set(commissionBasis="net")
    shop.change("update program set default_commission_type = 'Fixed', default_commission_value = 5")
    sale = shop.stage.pay(Purchase(cents=1_900))
    event = json.loads(sale.notifications[0].body)
    event["data"]["object"] |= {"total": 1_900, "total_excluding_tax": 0}
    shop.receive(shop.stage.sign_body(json.dumps(event).encode()), sale.notifications[1])
    states = []
    for change_payment in (shop.stage.refund, shop.stage.refund, shop.stage.restore):
        shop.receive(*change_payment(sale, 950))
        states += shop.conversions("amount_cents, reversed_cents, status")
    assert states == [(0, 0, "Pending"), (0, 500, "Refunded"), (0, 0, "Pending")]
