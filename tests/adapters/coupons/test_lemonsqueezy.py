"""lemonsqueezy's discounts, which can only be looked through."""

import pytest

from adapters.coupons.base import CodeTaken, DiscountNotHeld
from tests.support.gateways.code_orders import build_rail
from tests.support.gateways.deliveries import account


def test_a_code_is_found_behind_others(playing):
    for number in range(250):
        playing.books.create_as_brand(f"OTHER{number}")
    order = playing.order()
    minted = playing.mint(order)

    assert playing.find(order) == minted
    with pytest.raises(CodeTaken):
        playing.mint(playing.order("OTHER249"))


def test_a_discount_of_a_test_store_is_for_trying_out(playing):
    playing.stage.mode = "test"
    rail = build_rail(playing.stage)
    rail.rail.mint(account(playing.stage), rail.order())
    assert playing.books.get_by_code("JANE15")["test_mode"] is True


def test_products_are_numbers_of_variants(playing):
    with pytest.raises(DiscountNotHeld, match="prod_1 is none"):
        playing.mint(playing.order(product_refs=("prod_1",)))
