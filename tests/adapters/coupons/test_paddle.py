"""paddle's discounts: our id in the custom data, what is archived, what is refused."""

import pytest

from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import DiscountType


def test_our_id_is_in_the_custom_data(playing):
    order = playing.order()
    playing.mint(order)
    told = playing.books.get_by_code("JANE15")
    assert told["custom_data"] == {"finderfee_id": str(order.code_id)}
    assert (told["description"], told["enabled_for_checkout"], told["amount"]) == ("Partner 15", True, "15")


def test_a_code_that_ends_is_archived(playing):
    order = playing.order()
    playing.switch_off(order, playing.mint(order))
    assert playing.books.get_by_code("JANE15")["status"] == "archived"


def test_of_codes_with_one_text_ours_is_found(playing):
    first = playing.order()
    playing.switch_off(first, playing.mint(first))
    second = playing.order()
    assert playing.find(first) != playing.mint(second) == playing.find(second)


def test_a_discount_that_is_gone_has_ended(playing):
    playing.switch_off(playing.order(), "dsc_gone")


def test_amounts_are_minor_units_of_the_currency(playing):
    playing.mint(playing.order(type=DiscountType.AmountOff, value=500, currency="JPY"))
    told = playing.books.get_by_code("JANE15")
    assert (told["type"], told["amount"], told["currency_code"]) == ("flat", "500", "JPY")


def test_what_it_says_no_to_is_said_in_its_words(playing):
    with pytest.raises(GatewayRejected, match="does not pass validation"):
        playing.mint(playing.order("JANE-15"))
