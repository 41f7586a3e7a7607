"""Gumroad offer codes: recognized by their cap, rejected with status 200, and memberships."""

from uuid import UUID

import pytest

from adapters.coupons.base import CodeTaken, DiscountNotHeld
from adapters.coupons.gumroad import cap
from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import DiscountDuration, DiscountType


def test_cap_identifies_the_code_and_is_never_reached(rail):
    order = rail.order()
    rail.mint(order)
    offer_code = rail.books.one("JANE15", "name")
    assert offer_code["max_purchase_count"] == cap(order.code_id)
    caps = {cap(UUID(int=number)) for number in range(1_000)}
    assert len(caps) > 990
    assert all(10**9 <= number_cap < 2**31 for number_cap in caps)


def test_code_without_products_is_universal(rail):
    rail.mint(rail.order())
    rail.mint(rail.order("OTHER15", product_refs=(rail.books.other_product,)))
    scopes = [(offer_code["universal"], offer_code["product"]) for offer_code in rail.books.kept]
    assert scopes == [(True, None), (False, rail.books.other_product)]


def test_membership_discount_must_be_forever(rail):
    for product in rail.books.products:
        product["is_tiered_membership"] = True
    with pytest.raises(DiscountNotHeld, match="membership"):
        rail.mint(rail.order())
    rail.mint(rail.order(duration=DiscountDuration.Forever))
    assert rail.books.terms("JANE15").duration == "forever"


def test_amount_off_must_match_the_currency_of_every_product(rail):
    rail.books.products[1]["currency"] = "eur"
    terms = {"type": DiscountType.AmountOff, "value": 500, "currency": "USD"}
    with pytest.raises(DiscountNotHeld, match="EUR"):
        rail.mint(rail.order(**terms))
    rail.mint(rail.order(product_refs=(rail.books.product,), **terms))


def test_missing_products_are_reported(rail):
    with pytest.raises(DiscountNotHeld, match="no product prod_1"):
        rail.mint(rail.order(product_refs=("prod_1",)))
    rail.books.products.clear()
    with pytest.raises(DiscountNotHeld, match="no product yet"):
        rail.mint(rail.order())


def test_universal_code_can_be_deleted_after_the_first_product(rail):
    order = rail.order()
    minted = rail.mint(order)
    del rail.books.products[0]
    assert rail.find(order) == minted

    rail.switch_off(order, minted)

    assert rail.books.kept == []


def test_rejection_with_status_200_is_raised(rail, monkeypatch):
    answer = rail.books.answer
    rejection = (200, {"success": False, "message": "The amount is too high."})
    monkeypatch.setattr(
        rail.books, "answer", lambda request: rejection if request.method == "POST" else answer(request)
    )
    with pytest.raises(GatewayRejected, match="too high"):
        rail.mint(rail.order())


def test_foreign_code_with_a_large_cap_is_not_adopted(rail):
    rail.books.plant("JANE15")
    rail.books.one("JANE15", "name")["max_purchase_count"] = 2**31 - 1
    with pytest.raises(CodeTaken):
        rail.mint(rail.order())
