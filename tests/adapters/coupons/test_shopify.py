"""shopify's discount codes: the mark in the title, rights that are denied with 200, how long a discount lasts."""

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayRejected
from domain.coupons.discounts import DiscountDuration


def test_the_title_says_whose_a_discount_is(playing):
    order = playing.order()
    playing.mint(order)
    assert playing.books.get_by_code("JANE15")["title"] == f"Partner 15 finderfee:{order.code_id}"
    assert playing.books.get_by_code("JANE15")["context"] == {"all": "ALL"}


def test_a_title_that_only_looks_like_ours_is_not(playing):
    order = playing.order()
    playing.mint(order)
    playing.books.get_by_code("JANE15")["title"] += " (copy)"
    assert playing.find(order) is None


def test_a_right_that_is_denied_with_200_is_refused_credentials(playing):
    order = playing.order()
    minted = playing.mint(order)
    playing.books.may = False
    for act in (
        lambda: playing.mint(playing.order("OTHER15")),
        lambda: playing.find(order),
        lambda: playing.switch_off(order, minted),
    ):
        with pytest.raises(CredentialsRefused, match="scope"):
            act()


def test_a_discount_of_the_shops_own_that_is_over_still_has_its_text(playing):
    playing.books.create_as_brand("JANE15")
    playing.books.get_by_code("JANE15")["status"] = "EXPIRED"
    with pytest.raises(Exception, match="JANE15"):
        playing.mint(playing.order())


@pytest.mark.parametrize(("duration", "cycles", "renews"), [("Once", 1, None), ("Forever", 0, True)])
def test_forever_is_off_every_order_of_a_subscription(playing, duration, cycles, renews):
    playing.mint(playing.order(duration=DiscountDuration(duration)))
    told = playing.books.get_by_code("JANE15")
    assert (told["recurringCycleLimit"], told["customerGets"].get("appliesOnSubscription")) == (cycles, renews)


def test_what_the_shop_says_no_to_is_said_in_its_words(playing):
    with pytest.raises(GatewayRejected, match=r"between 0\.0 and 1\.0"):
        playing.mint(playing.order(value=101))
