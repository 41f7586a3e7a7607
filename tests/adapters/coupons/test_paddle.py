"""Paddle discounts: the code id in custom data, archiving, and rejections."""

import pytest

from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import DiscountType


def test_custom_data_contains_the_code_id(rail):
    order = rail.order()
    rail.mint(order)
    discount = rail.books.one("JANE15")
    assert discount["custom_data"] == {"finderfee_id": str(order.code_id)}
    assert (discount["description"], discount["enabled_for_checkout"], discount["amount"]) == ("Partner 15", True, "15")


def test_switched_off_code_is_archived(rail):
    order = rail.order()
    rail.switch_off(order, rail.mint(order))
    assert rail.books.one("JANE15")["status"] == "archived"


def test_own_code_is_found_among_codes_with_the_same_text(rail):
    first = rail.order()
    rail.switch_off(first, rail.mint(first))
    second = rail.order()
    assert rail.find(first) != rail.mint(second) == rail.find(second)


def test_switch_off_of_a_missing_discount_succeeds(rail):
    rail.switch_off(rail.order(), "dsc_gone")


def test_amount_is_in_the_currencys_minor_units(rail):
    rail.mint(rail.order(type=DiscountType.AmountOff, value=500, currency="JPY"))
    discount = rail.books.one("JANE15")
    assert (discount["type"], discount["amount"], discount["currency_code"]) == ("flat", "500", "JPY")


def test_rejection_message_of_paddle_is_passed_on(rail):
    with pytest.raises(GatewayRejected, match="does not pass validation"):
        rail.mint(rail.order("JANE-15"))
