"""maxio's coupons, each of a product family."""

import pytest

from adapters.coupons.base import CodeTaken, DiscountNotHeld


def test_the_description_says_whose_a_coupon_is(playing):
    order = playing.order("JANE_15-X")
    playing.mint(order)
    told = playing.books.get_by_code("JANE_15-X")
    assert (told["name"], told["description"]) == ("Partner 15", f"Partner 15 finderfee:{order.code_id}")


def test_a_site_with_several_families_wants_products(playing):
    playing.books.families[902] = [21]
    with pytest.raises(DiscountNotHeld, match="one product family"):
        playing.mint(playing.order())

    playing.mint(playing.order(product_refs=("21",)))

    assert playing.books.get_by_code("JANE15")["product_family_id"] == 902


@pytest.mark.parametrize(
    ("refs", "why"),
    [(("11", "21"), "one product family"), (("99",), "no product 99"), (("prod_1",), "prod_1 is none")],
)
def test_products_of_two_families_and_unknown_ones_are_refused(playing, refs, why):
    playing.books.families[902] = [21]
    with pytest.raises(DiscountNotHeld, match=why):
        playing.mint(playing.order(product_refs=refs))
    assert playing.books.rows == []


def test_a_code_of_another_family_is_found_and_ended_there(playing):
    playing.books.families[902] = [21]
    order = playing.order(product_refs=("21",))
    minted = playing.mint(order)
    with pytest.raises(CodeTaken):
        playing.mint(playing.order(product_refs=("11",)))

    playing.switch_off(order, minted)

    assert playing.books.list_live_ids("JANE15") == []
