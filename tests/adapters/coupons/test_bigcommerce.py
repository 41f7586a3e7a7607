"""BigCommerce promotions, which are created before their code."""

import pytest

from adapters.coupons.base import CodeTaken
from adapters.gateways.base import GatewayRejected, GatewayUnreachable


def test_promotion_without_a_code_is_completed_on_retry(simulated_rail):
    order = simulated_rail.order()
    simulated_rail.stage.faults.extend([*[""] * 3, "fail"])  # its name, its text, the promotion; not the code
    with pytest.raises(GatewayUnreachable):
        simulated_rail.mint(order)
    assert (len(simulated_rail.books.promotions), simulated_rail.books.rows, simulated_rail.find(order)) == (
        1,
        [],
        None,
    )

    minted = simulated_rail.mint(order)

    assert list(simulated_rail.books.promotions) == [int(minted)]
    assert simulated_rail.books.list_live_ids("JANE15") == [minted]


def test_promotion_is_deleted_when_its_code_is_rejected(simulated_rail):
    with pytest.raises(GatewayRejected, match="not valid"):
        simulated_rail.mint(simulated_rail.order("A" * 51))
    assert simulated_rail.books.promotions == {}


def test_promotion_is_deleted_when_its_code_is_taken(simulated_rail):
    order = simulated_rail.order()
    simulated_rail.stage.faults.extend([*[""] * 3, "fail"])
    with pytest.raises(GatewayUnreachable):
        simulated_rail.mint(order)
    other_id = simulated_rail.books.create_as_brand("JANE15")

    with pytest.raises(CodeTaken):
        simulated_rail.mint(order)

    assert list(simulated_rail.books.promotions) == [int(other_id)]


def test_switched_off_code_is_disabled_before_deletion(simulated_rail):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)
    simulated_rail.stage.faults.extend(["", "fail"])

    with pytest.raises(GatewayUnreachable):
        simulated_rail.deactivate(order, minted)

    assert simulated_rail.books.list_live_ids("JANE15") == []
    simulated_rail.deactivate(order, minted)
    assert simulated_rail.books.rows == []


def test_deactivation_keeps_another_code_with_the_same_text(simulated_rail):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)
    simulated_rail.books.rows.clear()
    other_id = simulated_rail.books.create_as_brand("JANE15")

    simulated_rail.deactivate(order, minted)

    assert simulated_rail.books.list_live_ids("JANE15") == [other_id]
