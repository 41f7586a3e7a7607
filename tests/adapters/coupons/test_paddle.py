"""Paddle discounts: the code id in custom data, archiving, and rejections."""

import pytest

from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import DiscountType


def test_custom_data_contains_the_code_id(simulated_rail):
    order = simulated_rail.order()
    simulated_rail.mint(order)
    discount = simulated_rail.books.get_by_code("JANE15")
    assert discount["custom_data"] == {"finderfee_id": str(order.code_id)}
    assert (discount["description"], discount["enabled_for_checkout"], discount["amount"]) == ("Partner 15", True, "15")


def test_switched_off_code_is_archived(simulated_rail):
    order = simulated_rail.order()
    simulated_rail.deactivate(order, simulated_rail.mint(order))
    assert simulated_rail.books.get_by_code("JANE15")["status"] == "archived"


def test_own_code_is_found_among_codes_with_the_same_text(simulated_rail):
    first = simulated_rail.order()
    simulated_rail.deactivate(first, simulated_rail.mint(first))
    second = simulated_rail.order()
    assert simulated_rail.find(first) != simulated_rail.mint(second) == simulated_rail.find(second)


def test_deactivation_of_a_missing_discount_succeeds(simulated_rail):
    simulated_rail.deactivate(simulated_rail.order(), "dsc_gone")


def test_amount_is_in_the_currencys_minor_units(simulated_rail):
    simulated_rail.mint(simulated_rail.order(type=DiscountType.AmountOff, value=500, currency="JPY"))
    discount = simulated_rail.books.get_by_code("JANE15")
    assert (discount["type"], discount["amount"], discount["currency_code"]) == ("flat", "500", "JPY")


def test_rejection_message_of_paddle_is_passed_on(simulated_rail):
    with pytest.raises(GatewayRejected, match="does not pass validation"):
        simulated_rail.mint(simulated_rail.order("JANE-15"))
