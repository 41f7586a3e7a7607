"""chargebee's coupons: keys, names, item prices, what stays when a redeemed one is deleted."""

import json

import pytest

from adapters.coupons.base import CodeTaken, DiscountNotHeld
from domain.coupons.discounts import DiscountDuration, DiscountType


def test_the_key_is_of_the_code_and_so_is_the_meta_data(playing):
    order = playing.order()
    playing.mint(order)
    keys = [asked.headers["chargebee-idempotency-key"] for asked in playing.stage.calls if asked.method == "POST"]
    assert keys == [f"coupon:{order.code_id}"]
    assert playing.books.get_by_code("JANE15", "id")["meta_data"] == {"finderfee_id": str(order.code_id)}


def test_a_key_that_is_forgotten_makes_no_second_coupon(playing):
    order = playing.order()
    minted = playing.mint(order)
    playing.books._by_key.clear()
    assert playing.mint(order) == minted
    assert len(playing.books.rows) == 1


def test_two_codes_of_one_coupon_have_names_of_their_own(playing):
    first = playing.order("A" * 32)
    playing.mint(first)
    playing.mint(playing.order("B" * 32))
    assert len({one["name"] for one in playing.books.rows}) == 2


def test_months_are_months(playing):
    playing.mint(playing.order(duration=DiscountDuration.Repeating, months=94))
    told = playing.books.get_by_code("JANE15", "id")
    assert [told[name] for name in ("duration_type", "period", "period_unit")] == ["limited_period", "94", "month"]


def test_item_prices_are_named_by_the_kind_of_their_item(playing):
    playing.mint(playing.order(product_refs=("gold-USD-monthly", "setup-USD")))
    told = playing.books.get_by_code("JANE15", "id")
    assert told["apply_on"] == "each_specified_item"
    assert {
        told[f"item_constraints[item_type][{number}]"]: json.loads(told[f"item_constraints[item_price_ids][{number}]"])
        for number in (0, 1)
    } == {"plan": ["gold-USD-monthly"], "charge": ["setup-USD"]}


def test_an_item_price_that_is_not_there_is_said(playing):
    with pytest.raises(DiscountNotHeld, match="no item price prod_1"):
        playing.mint(playing.order(product_refs=("prod_1",)))


@pytest.mark.parametrize(("currency", "units"), [("KWD", "105"), ("USD", "1050")])
def test_amounts_are_counted_as_it_counts_them(playing, currency, units):
    playing.mint(playing.order(type=DiscountType.AmountOff, value=1_050, currency=currency))
    assert playing.books.get_by_code("JANE15", "id")["discount_amount"] == units


def test_a_coupon_that_was_redeemed_keeps_its_text(playing):
    order = playing.order()
    minted = playing.mint(order)
    playing.books.redeemed.add(minted)
    playing.switch_off(order, minted)

    assert playing.books.list_live_ids("JANE15") == []
    with pytest.raises(CodeTaken):
        playing.mint(playing.order())
