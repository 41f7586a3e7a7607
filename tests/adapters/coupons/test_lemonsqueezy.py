"""Lemon Squeezy discounts, which can only be listed."""

import pytest

from adapters.coupons.base import CodeTaken, DiscountUnsupported
from tests.support.gateways.code_orders import build_rail
from tests.support.gateways.deliveries import build_account


def test_code_is_found_behind_250_others(simulated_rail):
    for number in range(250):
        simulated_rail.books.create_as_brand(f"OTHER{number}")
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)

    assert simulated_rail.find(order) == minted
    with pytest.raises(CodeTaken):
        simulated_rail.mint(simulated_rail.order("OTHER249"))


def test_test_store_creates_a_test_mode_discount(simulated_rail):
    simulated_rail.stage.mode = "test"
    test_rail = build_rail(simulated_rail.stage)
    test_rail.rail.mint(build_account(simulated_rail.stage), test_rail.order())
    assert simulated_rail.books.get_by_code("JANE15")["test_mode"] is True


def test_product_ref_must_be_a_variant_number(simulated_rail):
    with pytest.raises(DiscountUnsupported, match="prod_1 is not a number"):
        simulated_rail.mint(simulated_rail.order(product_refs=("prod_1",)))
