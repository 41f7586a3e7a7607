"""With the basis net a sale counts without tax and shipping, and its refunds by their share of what was paid."""

import json

import pytest

from tests.support.gateways.stage import Purchase


@pytest.fixture
def taxed(shop):
    """Return a function that lets somebody pay 11900, of which 1900 are tax."""

    def pay(**more):
        sale = shop.stage.pay(Purchase(cents=11_900, **more))
        invoice, alias = sale.notifications
        event = json.loads(invoice.body)
        event["data"]["object"] |= {"total": 11_900, "total_excluding_tax": 10_000}
        shop.hear(shop.stage.sign_body(json.dumps(event).encode()), alias)
        return sale

    return pay


def test_an_owner_chooses_the_basis_and_sees_it(shop, taxed):
    assert shop.brand.person("Owner").get("/api/organizations/me").json["commissionBasis"] == "gross"
    taxed()
    changed = shop.brand.person("Owner").call("PATCH", "/api/organizations/me", {"commissionBasis": "net"})
    assert (changed.status_code, changed.json["commissionBasis"]) == (200, "net")
    taxed(customer="2", email="bob@example.com")
    assert sorted(shop.conversions("amount_cents, commission_cents")) == [(10_000, 2_000), (11_900, 2_380)]

    refused = shop.brand.person("Admin").call("PATCH", "/api/organizations/me", {"commissionBasis": "gross"})
    assert refused.status_code == 403


def test_an_operator_sets_it_too(shop):
    shop.brand.set(commissionBasis="net")
    assert shop.brand.person("Owner").get("/api/organizations/me").json["commissionBasis"] == "net"


def test_refunds_count_in_units_of_the_basis_and_the_completing_one_takes_the_rest(shop, taxed):
    shop.brand.set(commissionBasis="net")
    sale = taxed()
    totals = []
    for cents in (1, 4_000, 7_899):
        shop.hear(*shop.stage.refund(sale, cents))
        totals += shop.conversions("refunded_cents, reversed_cents, status")
    assert totals == [(1, 0, "Pending"), (3_362, 672, "Pending"), (10_000, 2_000, "Refunded")]
    assert [told["refundedAmountCents"] for told in shop.told("conversion.refunded")] == [1, 3_361, 6_638]

    shop.hear(*shop.stage.restore(sale, 7_899))
    assert shop.conversions("refunded_cents, reversed_cents, status") == [(3_362, 672, "Pending")]


def test_a_sale_that_counts_nothing_is_ended_by_its_full_refund_alone(shop, taxed):
    shop.brand.set(commissionBasis="net")
    shop.change("update program set default_commission_type = 'Fixed', default_commission_value = 5")
    sale = shop.stage.pay(Purchase(cents=1_900))
    event = json.loads(sale.notifications[0].body)
    event["data"]["object"] |= {"total": 1_900, "total_excluding_tax": 0}
    shop.hear(shop.stage.sign_body(json.dumps(event).encode()), sale.notifications[1])
    states = []
    for act in (shop.stage.refund, shop.stage.refund, shop.stage.restore):
        shop.hear(*act(sale, 950))
        states += shop.conversions("amount_cents, reversed_cents, status")
    assert states == [(0, 0, "Pending"), (0, 500, "Refunded"), (0, 0, "Pending")]
