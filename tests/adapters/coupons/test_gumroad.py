"""Gumroad offer codes: recognized by their cap, rejected with status 200, and memberships."""

from uuid import UUID

import pytest

from adapters.coupons.base import CodeTaken, DiscountUnsupported
from adapters.coupons.gumroad import cap
from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import DiscountDuration, DiscountType


def test_cap_identifies_the_code_and_is_never_reached(simulated_rail):
    order = simulated_rail.order()
    simulated_rail.mint(order)
    offer_code = simulated_rail.books.get_by_code("JANE15", "name")
    assert offer_code["max_purchase_count"] == cap(order.code_id)
    caps = {cap(UUID(int=number)) for number in range(1_000)}
    assert len(caps) > 990
    assert all(10**9 <= number_cap < 2**31 for number_cap in caps)


def test_code_without_products_is_universal(simulated_rail):
    simulated_rail.mint(simulated_rail.order())
    simulated_rail.mint(simulated_rail.order("OTHER15", product_refs=(simulated_rail.books.other_product,)))
    scopes = [(offer_code["universal"], offer_code["product"]) for offer_code in simulated_rail.books.rows]
    assert scopes == [(True, None), (False, simulated_rail.books.other_product)]


def test_membership_discount_must_be_forever(simulated_rail):
    for product in simulated_rail.books.products:
        product["is_tiered_membership"] = True
    with pytest.raises(DiscountUnsupported, match="membership"):
        simulated_rail.mint(simulated_rail.order())
    simulated_rail.mint(simulated_rail.order(duration=DiscountDuration.Forever))
    assert simulated_rail.books.terms("JANE15").duration == "forever"


def test_amount_off_must_match_the_currency_of_every_product(simulated_rail):
    simulated_rail.books.products[1]["currency"] = "eur"
    terms = {"type": DiscountType.AmountOff, "value": 500, "currency": "USD"}
    with pytest.raises(DiscountUnsupported, match="EUR"):
        simulated_rail.mint(simulated_rail.order(**terms))
    simulated_rail.mint(simulated_rail.order(product_refs=(simulated_rail.books.product,), **terms))


def test_missing_products_are_reported(simulated_rail):
    with pytest.raises(DiscountUnsupported, match="no product prod_1"):
        simulated_rail.mint(simulated_rail.order(product_refs=("prod_1",)))
    simulated_rail.books.products.clear()
    with pytest.raises(DiscountUnsupported, match="no product yet"):
        simulated_rail.mint(simulated_rail.order())


def test_universal_code_can_be_deleted_after_the_first_product(simulated_rail):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)
    del simulated_rail.books.products[0]
    assert simulated_rail.find(order) == minted

    simulated_rail.deactivate(order, minted)

    assert simulated_rail.books.rows == []


def test_rejection_with_status_200_is_raised(simulated_rail, monkeypatch):
    answer = simulated_rail.books.answer
    rejection = (200, {"success": False, "message": "The amount is too high."})
    monkeypatch.setattr(
        simulated_rail.books, "answer", lambda request: rejection if request.method == "POST" else answer(request)
    )
    with pytest.raises(GatewayRejected, match="too high"):
        simulated_rail.mint(simulated_rail.order())


def test_foreign_code_with_a_large_cap_is_not_adopted(simulated_rail):
    simulated_rail.books.create_as_brand("JANE15")
    simulated_rail.books.get_by_code("JANE15", "name")["max_purchase_count"] = 2**31 - 1
    with pytest.raises(CodeTaken):
        simulated_rail.mint(simulated_rail.order())
