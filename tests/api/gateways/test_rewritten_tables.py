"""A payment or refund that waits for a table rewrite is booked as without the rewrite."""

import pytest

from tests.models.upgrades import rewriting
from tests.support.gateways.stage import Purchase

_BUYERS = [{"customer": "7", "email": "eve@example.com"}, {"customer": "8", "email": "bob@example.com"}]
# What names jane in a payment, and the tables read to credit her.
_CREDITING_TABLES = [
    ("slug", {"slug": "jane"}, "tracking_link affiliate program organization"),
    ("code", {"slug": None, "code": "OLD"}, "affiliate_coupon affiliate program"),
    ("lead", {"slug": None}, "lead affiliate program"),
]


def _list_cases():
    for name, purchase, tables in _CREDITING_TABLES:
        yield from (pytest.param(name, purchase, table, id=f"{name}-{table}") for table in tables.split())


@pytest.mark.parametrize(("name", "purchase", "table"), list(_list_cases()))
def test_payment_during_table_rewrite_credits_its_affiliate(shop, name, purchase, table):
    if name == "code":
        ((jane,),) = shop.brand.rows("select id from affiliate")
        shop.brand.post(f"/api/v1/affiliates/{jane}/coupons", {"code": "OLD", "external": True})
    if name == "lead":
        for buyer in _BUYERS:
            shop.receive(*shop.stage.start_trial(Purchase(cents=0, **buyer)))
    buyers = iter(_BUYERS)

    sale = rewriting.answer_across_rewrite(table, lambda: shop.sell(**purchase, **next(buyers)))

    assert sale.id in {row[0] for row in shop.conversions()}, shop.events()


@pytest.mark.parametrize("table", ["gateway_payment", "conversion", "affiliate", "program_customer"])
def test_renewal_during_table_rewrite_is_credited_by_history(shop, table):
    first = shop.sell()

    renewal = rewriting.answer_across_rewrite(table, lambda: shop.sell(slug=None, renews=first))

    assert [row[3] for row in shop.conversions() if row[0] == renewal.id] == ["Recurring"]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(3,)]


@pytest.mark.parametrize("table", ["gateway_refund", "gateway_payment", "gateway_alias", "conversion"])
def test_refund_total_during_table_rewrite_is_booked_once(shop, table):
    sale = shop.sell(cents=10_000)
    # The second notification reports the total of both refunds.
    refunds = iter([shop.stage.refund(sale, 2_500), shop.stage.refund(sale, 1_500)])

    rewriting.answer_across_rewrite(table, lambda: shop.receive(*next(refunds)))

    assert shop.conversions("refunded_cents, reversed_cents") == [(4_000, 800)]
