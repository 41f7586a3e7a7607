"""Shopify discount codes: the id in the title, permissions denied with status 200, and duration."""

import pytest

from adapters.gateways.base import CredentialsRefused, GatewayRejected
from domain.coupons.discounts import DiscountDuration


def test_title_contains_the_code_id(simulated_rail):
    order = simulated_rail.order()
    simulated_rail.mint(order)
    assert simulated_rail.books.get_by_code("JANE15")["title"] == f"Partner 15 finderfee:{order.code_id}"
    assert simulated_rail.books.get_by_code("JANE15")["context"] == {"all": "ALL"}


def test_discount_with_an_altered_title_is_not_ours(simulated_rail):
    order = simulated_rail.order()
    simulated_rail.mint(order)
    simulated_rail.books.get_by_code("JANE15")["title"] += " (copy)"
    assert simulated_rail.find(order) is None


def test_permission_denied_with_200_raises_credentials_refused(simulated_rail):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)
    simulated_rail.books.has_scope = False
    for act in (
        lambda: simulated_rail.mint(simulated_rail.order("OTHER15")),
        lambda: simulated_rail.find(order),
        lambda: simulated_rail.switch_off(order, minted),
    ):
        with pytest.raises(CredentialsRefused, match="scope"):
            act()


def test_expired_foreign_discount_still_reserves_its_text(simulated_rail):
    simulated_rail.books.create_as_brand("JANE15")
    simulated_rail.books.get_by_code("JANE15")["status"] = "EXPIRED"
    with pytest.raises(Exception, match="JANE15"):
        simulated_rail.mint(simulated_rail.order())


@pytest.mark.parametrize(("duration", "cycles", "renews"), [("Once", 1, None), ("Forever", 0, True)])
def test_forever_applies_to_every_subscription_order(simulated_rail, duration, cycles, renews):
    simulated_rail.mint(simulated_rail.order(duration=DiscountDuration(duration)))
    discount = simulated_rail.books.get_by_code("JANE15")
    assert (discount["recurringCycleLimit"], discount["customerGets"].get("appliesOnSubscription")) == (cycles, renews)


def test_rejection_message_of_shopify_is_passed_on(simulated_rail):
    with pytest.raises(GatewayRejected, match=r"between 0\.0 and 1\.0"):
        simulated_rail.mint(simulated_rail.order(value=101))
