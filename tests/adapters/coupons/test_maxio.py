"""Maxio coupons, each of which belongs to a product family."""

import pytest

from adapters.coupons.base import CodeTaken, DiscountNotHeld


def test_description_contains_the_code_id(rail):
    order = rail.order("JANE_15-X")
    rail.mint(order)
    coupon = rail.books.one("JANE_15-X")
    assert (coupon["name"], coupon["description"]) == ("Partner 15", f"Partner 15 finderfee:{order.code_id}")


def test_site_with_several_families_requires_products(rail):
    rail.books.families[902] = [21]
    with pytest.raises(DiscountNotHeld, match="one product family"):
        rail.mint(rail.order())

    rail.mint(rail.order(product_refs=("21",)))

    assert rail.books.one("JANE15")["product_family_id"] == 902


@pytest.mark.parametrize(
    ("refs", "reason"),
    [(("11", "21"), "one product family"), (("99",), "no product 99"), (("prod_1",), "prod_1 is none")],
)
def test_products_of_two_families_or_unknown_ones_are_refused(rail, refs, reason):
    rail.books.families[902] = [21]
    with pytest.raises(DiscountNotHeld, match=reason):
        rail.mint(rail.order(product_refs=refs))
    assert rail.books.kept == []


def test_code_of_another_family_is_found_and_switched_off(rail):
    rail.books.families[902] = [21]
    order = rail.order(product_refs=("21",))
    minted = rail.mint(order)
    with pytest.raises(CodeTaken):
        rail.mint(rail.order(product_refs=("11",)))

    rail.switch_off(order, minted)

    assert rail.books.live("JANE15") == []
