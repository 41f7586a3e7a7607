"""gumroad's offer codes: known by their cap, refused with 200, off every payment of a membership."""

from uuid import UUID

import pytest

from adapters.coupons.base import CodeTaken, DiscountNotHeld
from adapters.coupons.gumroad import cap
from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import DiscountDuration, DiscountType


def test_the_cap_is_ours_and_nobody_reaches_it(playing):
    order = playing.order()
    playing.mint(order)
    told = playing.books.get_by_code("JANE15", "name")
    assert told["max_purchase_count"] == cap(order.code_id)
    caps = {cap(UUID(int=number)) for number in range(1_000)}
    assert len(caps) > 990
    assert all(10**9 <= one < 2**31 for one in caps)


def test_without_products_a_code_is_of_all(playing):
    playing.mint(playing.order())
    playing.mint(playing.order("OTHER15", product_refs=(playing.books.other_product,)))
    shown = [(one["universal"], one["product"]) for one in playing.books.rows]
    assert shown == [(True, None), (False, playing.books.other_product)]


def test_a_membership_is_discounted_for_ever_or_not_at_all(playing):
    for product in playing.books.products:
        product["is_tiered_membership"] = True
    with pytest.raises(DiscountNotHeld, match="membership"):
        playing.mint(playing.order())
    playing.mint(playing.order(duration=DiscountDuration.Forever))
    assert playing.books.terms("JANE15").duration == "forever"


def test_an_amount_off_all_is_in_the_currency_of_every_product(playing):
    playing.books.products[1]["currency"] = "eur"
    terms = {"type": DiscountType.AmountOff, "value": 500, "currency": "USD"}
    with pytest.raises(DiscountNotHeld, match="EUR"):
        playing.mint(playing.order(**terms))
    playing.mint(playing.order(product_refs=(playing.books.product,), **terms))


def test_a_product_that_is_not_there_and_a_seller_without_products_are_said(playing):
    with pytest.raises(DiscountNotHeld, match="no product prod_1"):
        playing.mint(playing.order(product_refs=("prod_1",)))
    playing.books.products.clear()
    with pytest.raises(DiscountNotHeld, match="no product yet"):
        playing.mint(playing.order())


def test_a_code_of_all_products_ends_when_the_first_product_is_gone(playing):
    order = playing.order()
    minted = playing.mint(order)
    del playing.books.products[0]
    assert playing.find(order) == minted

    playing.switch_off(order, minted)

    assert playing.books.rows == []


def test_a_refusal_with_200_is_a_refusal(playing, monkeypatch):
    answer = playing.books.answer
    no = (200, {"success": False, "message": "The amount is too high."})
    monkeypatch.setattr(playing.books, "answer", lambda asked: no if asked.method == "POST" else answer(asked))
    with pytest.raises(GatewayRejected, match="too high"):
        playing.mint(playing.order())


def test_a_code_of_somebody_elses_with_a_large_cap_is_not_ours(playing):
    playing.books.create_as_brand("JANE15")
    playing.books.get_by_code("JANE15", "name")["max_purchase_count"] = 2**31 - 1
    with pytest.raises(CodeTaken):
        playing.mint(playing.order())
