"""Maxio coupons, each of which belongs to a product family."""

import pytest

from adapters.coupons.base import CodeTaken, DiscountUnsupported


def test_description_contains_the_code_id(simulated_rail):
    order = simulated_rail.order("JANE_15-X")
    simulated_rail.mint(order)
    coupon = simulated_rail.books.get_by_code("JANE_15-X")
    assert (coupon["name"], coupon["description"]) == ("Partner 15", f"Partner 15 finderfee:{order.code_id}")


def test_site_with_several_families_requires_products(simulated_rail):
    simulated_rail.books.families[902] = [21]
    with pytest.raises(DiscountUnsupported, match="one product family"):
        simulated_rail.mint(simulated_rail.order())

    simulated_rail.mint(simulated_rail.order(product_refs=("21",)))

    assert simulated_rail.books.get_by_code("JANE15")["product_family_id"] == 902


@pytest.mark.parametrize(
    ("refs", "reason"),
    [(("11", "21"), "one product family"), (("99",), "no product 99"), (("prod_1",), "prod_1 is not a number")],
)
def test_unknown_products_or_products_of_two_families_are_refused(simulated_rail, refs, reason):
    simulated_rail.books.families[902] = [21]
    with pytest.raises(DiscountUnsupported, match=reason):
        simulated_rail.mint(simulated_rail.order(product_refs=refs))
    assert simulated_rail.books.rows == []


def test_code_of_another_family_is_found_and_switched_off(simulated_rail):
    simulated_rail.books.families[902] = [21]
    order = simulated_rail.order(product_refs=("21",))
    minted = simulated_rail.mint(order)
    with pytest.raises(CodeTaken):
        simulated_rail.mint(simulated_rail.order(product_refs=("11",)))

    simulated_rail.deactivate(order, minted)

    assert simulated_rail.books.list_live_ids("JANE15") == []
