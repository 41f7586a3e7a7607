"""Lemon Squeezy discounts, which can only be listed."""

import pytest

from adapters.coupons.base import CodeTaken, DiscountNotHeld
from tests.support.gateways.ordering import played_rail
from tests.support.gateways.told import account


def test_code_is_found_behind_250_others(rail):
    for number in range(250):
        rail.books.plant(f"OTHER{number}")
    order = rail.order()
    minted = rail.mint(order)

    assert rail.find(order) == minted
    with pytest.raises(CodeTaken):
        rail.mint(rail.order("OTHER249"))


def test_test_store_creates_a_test_mode_discount(playing):
    playing.stage.mode = "test"
    test_rail = played_rail(playing.stage)
    test_rail.rail.mint(account(playing.stage), test_rail.order())
    assert playing.books.one("JANE15")["test_mode"] is True


def test_product_ref_must_be_a_variant_number(rail):
    with pytest.raises(DiscountNotHeld, match="prod_1 is none"):
        rail.mint(rail.order(product_refs=("prod_1",)))
