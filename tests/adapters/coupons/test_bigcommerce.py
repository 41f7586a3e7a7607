"""bigcommerce's promotions, which are made before their code."""

import pytest

from adapters.coupons.base import CodeTaken
from adapters.gateways.base import GatewayRejected, GatewayUnreachable


def test_a_promotion_that_has_no_code_yet_is_gone_on_with(playing):
    order = playing.order()
    playing.stage.faults.extend([*[""] * 3, "fail"])  # its name, its text, the promotion; not the code
    with pytest.raises(GatewayUnreachable):
        playing.mint(order)
    assert (len(playing.books.promotions), playing.books.rows, playing.find(order)) == (1, [], None)

    minted = playing.mint(order)

    assert list(playing.books.promotions) == [int(minted)]
    assert playing.books.list_live_ids("JANE15") == [minted]


def test_a_promotion_whose_code_is_refused_is_taken_back(playing):
    with pytest.raises(GatewayRejected, match="not valid"):
        playing.mint(playing.order("A" * 51))
    assert playing.books.promotions == {}


def test_a_half_made_promotion_is_taken_back_when_somebody_else_has_its_text(playing):
    order = playing.order()
    playing.stage.faults.extend([*[""] * 3, "fail"])
    with pytest.raises(GatewayUnreachable):
        playing.mint(order)
    theirs = playing.books.create_as_brand("JANE15")

    with pytest.raises(CodeTaken):
        playing.mint(order)

    assert list(playing.books.promotions) == [int(theirs)]


def test_a_code_that_ends_is_disabled_before_its_text_is_let_go(playing):
    order = playing.order()
    minted = playing.mint(order)
    playing.stage.faults.extend(["", "fail"])

    with pytest.raises(GatewayUnreachable):
        playing.switch_off(order, minted)

    assert playing.books.list_live_ids("JANE15") == []
    playing.switch_off(order, minted)
    assert playing.books.rows == []


def test_ending_a_code_leaves_one_alone_that_has_its_text_now(playing):
    order = playing.order()
    minted = playing.mint(order)
    playing.books.rows.clear()
    theirs = playing.books.create_as_brand("JANE15")

    playing.switch_off(order, minted)

    assert playing.books.list_live_ids("JANE15") == [theirs]
