"""Chargebee coupons: idempotency keys, names, item prices, and redeemed coupons after deletion."""

import json

import pytest

from adapters.coupons.base import CodeTaken, DiscountUnsupported
from domain.coupons.discounts import DiscountDuration, DiscountType


def test_idempotency_key_and_meta_data_hold_the_code_id(simulated_rail):
    order = simulated_rail.order()
    simulated_rail.mint(order)
    keys = [
        request.headers["chargebee-idempotency-key"]
        for request in simulated_rail.stage.calls
        if request.method == "POST"
    ]
    assert keys == [f"coupon:{order.code_id}"]
    assert simulated_rail.books.get_by_code("JANE15", "id")["meta_data"] == {"finderfee_id": str(order.code_id)}


def test_forgotten_idempotency_key_creates_no_second_coupon(simulated_rail):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)
    simulated_rail.books._by_key.clear()
    assert simulated_rail.mint(order) == minted
    assert len(simulated_rail.books.rows) == 1


def test_codes_with_one_prefix_get_distinct_names(simulated_rail):
    first = simulated_rail.order("A" * 32)
    simulated_rail.mint(first)
    simulated_rail.mint(simulated_rail.order("B" * 32))
    assert len({coupon["name"] for coupon in simulated_rail.books.rows}) == 2


def test_months_become_a_limited_period(simulated_rail):
    simulated_rail.mint(simulated_rail.order(duration=DiscountDuration.Repeating, months=94))
    coupon = simulated_rail.books.get_by_code("JANE15", "id")
    assert [coupon[name] for name in ("duration_type", "period", "period_unit")] == ["limited_period", "94", "month"]


def test_item_prices_are_grouped_by_item_type(simulated_rail):
    simulated_rail.mint(simulated_rail.order(product_refs=("gold-USD-monthly", "setup-USD")))
    coupon = simulated_rail.books.get_by_code("JANE15", "id")
    assert coupon["apply_on"] == "each_specified_item"
    assert {
        coupon[f"item_constraints[item_type][{number}]"]: json.loads(
            coupon[f"item_constraints[item_price_ids][{number}]"]
        )
        for number in (0, 1)
    } == {"plan": ["gold-USD-monthly"], "charge": ["setup-USD"]}


def test_unknown_item_price_is_reported(simulated_rail):
    with pytest.raises(DiscountUnsupported, match="no item price prod_1"):
        simulated_rail.mint(simulated_rail.order(product_refs=("prod_1",)))


@pytest.mark.parametrize(("currency", "units"), [("KWD", "105"), ("USD", "1050")])
def test_amount_is_in_the_currencys_minor_units(simulated_rail, currency, units):
    simulated_rail.mint(simulated_rail.order(type=DiscountType.AmountOff, value=1_050, currency=currency))
    assert simulated_rail.books.get_by_code("JANE15", "id")["discount_amount"] == units


def test_redeemed_coupon_keeps_its_code_reserved(simulated_rail):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)
    simulated_rail.books.redeemed.add(minted)
    simulated_rail.deactivate(order, minted)

    assert simulated_rail.books.list_live_ids("JANE15") == []
    with pytest.raises(CodeTaken):
        simulated_rail.mint(simulated_rail.order())
