"""Chargebee coupons: idempotency keys, names, item prices, and redeemed coupons after deletion."""

import json

import pytest

from adapters.coupons.base import CodeTaken, DiscountNotHeld
from domain.coupons.discounts import DiscountDuration, DiscountType


def test_idempotency_key_and_meta_data_hold_the_code_id(rail):
    order = rail.order()
    rail.mint(order)
    keys = [request.headers["chargebee-idempotency-key"] for request in rail.stage.asked if request.method == "POST"]
    assert keys == [f"coupon:{order.code_id}"]
    assert rail.books.one("JANE15", "id")["meta_data"] == {"finderfee_id": str(order.code_id)}


def test_forgotten_idempotency_key_creates_no_second_coupon(rail):
    order = rail.order()
    minted = rail.mint(order)
    rail.books._by_key.clear()
    assert rail.mint(order) == minted
    assert len(rail.books.kept) == 1


def test_codes_with_one_prefix_get_distinct_names(rail):
    first = rail.order("A" * 32)
    rail.mint(first)
    rail.mint(rail.order("B" * 32))
    assert len({coupon["name"] for coupon in rail.books.kept}) == 2


def test_months_become_a_limited_period(rail):
    rail.mint(rail.order(duration=DiscountDuration.Repeating, months=94))
    coupon = rail.books.one("JANE15", "id")
    assert [coupon[name] for name in ("duration_type", "period", "period_unit")] == ["limited_period", "94", "month"]


def test_item_prices_are_grouped_by_item_type(rail):
    rail.mint(rail.order(product_refs=("gold-USD-monthly", "setup-USD")))
    coupon = rail.books.one("JANE15", "id")
    assert coupon["apply_on"] == "each_specified_item"
    assert {
        coupon[f"item_constraints[item_type][{number}]"]: json.loads(
            coupon[f"item_constraints[item_price_ids][{number}]"]
        )
        for number in (0, 1)
    } == {"plan": ["gold-USD-monthly"], "charge": ["setup-USD"]}


def test_unknown_item_price_is_reported(rail):
    with pytest.raises(DiscountNotHeld, match="no item price prod_1"):
        rail.mint(rail.order(product_refs=("prod_1",)))


@pytest.mark.parametrize(("currency", "units"), [("KWD", "105"), ("USD", "1050")])
def test_amount_is_in_the_currencys_minor_units(rail, currency, units):
    rail.mint(rail.order(type=DiscountType.AmountOff, value=1_050, currency=currency))
    assert rail.books.one("JANE15", "id")["discount_amount"] == units


def test_redeemed_coupon_keeps_its_code_reserved(rail):
    order = rail.order()
    minted = rail.mint(order)
    rail.books.redeemed.add(minted)
    rail.switch_off(order, minted)

    assert rail.books.live("JANE15") == []
    with pytest.raises(CodeTaken):
        rail.mint(rail.order())
