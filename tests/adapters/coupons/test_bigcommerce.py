"""BigCommerce promotions, which are created before their code."""

import pytest

from adapters.coupons.base import CodeTaken
from adapters.gateways.base import GatewayRejected, GatewayUnreachable


def test_promotion_without_a_code_is_completed_on_retry(rail):
    order = rail.order()
    rail.stage.faults.extend([*[""] * 3, "fail"])  # its name, its text, the promotion; not the code
    with pytest.raises(GatewayUnreachable):
        rail.mint(order)
    assert (len(rail.books.promotions), rail.books.kept, rail.find(order)) == (1, [], None)

    minted = rail.mint(order)

    assert list(rail.books.promotions) == [int(minted)]
    assert rail.books.live("JANE15") == [minted]


def test_promotion_is_deleted_when_its_code_is_rejected(rail):
    with pytest.raises(GatewayRejected, match="not valid"):
        rail.mint(rail.order("A" * 51))
    assert rail.books.promotions == {}


def test_promotion_is_deleted_when_its_code_is_taken(rail):
    order = rail.order()
    rail.stage.faults.extend([*[""] * 3, "fail"])
    with pytest.raises(GatewayUnreachable):
        rail.mint(order)
    other_id = rail.books.plant("JANE15")

    with pytest.raises(CodeTaken):
        rail.mint(order)

    assert list(rail.books.promotions) == [int(other_id)]


def test_switched_off_code_is_disabled_before_it_is_deleted(rail):
    order = rail.order()
    minted = rail.mint(order)
    rail.stage.faults.extend(["", "fail"])

    with pytest.raises(GatewayUnreachable):
        rail.switch_off(order, minted)

    assert rail.books.live("JANE15") == []
    rail.switch_off(order, minted)
    assert rail.books.kept == []


def test_switch_off_keeps_another_code_with_the_same_text(rail):
    order = rail.order()
    minted = rail.mint(order)
    rail.books.kept.clear()
    other_id = rail.books.plant("JANE15")

    rail.switch_off(order, minted)

    assert rail.books.live("JANE15") == [other_id]
