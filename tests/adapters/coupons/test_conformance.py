"""What every rail promises, played by each gateway of the tests over HTTP: minted once, and never another's code."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from adapters.coupons import registry
from adapters.coupons.base import CodeTaken, DiscountNotHeld
from adapters.gateways.base import CredentialsRefused, GatewayUnreachable
from domain.coupons.discounts import DiscountDuration, DiscountType
from domain.gateways.names import Gateway
from tests.support.gateways.code_orders import read_supported_discounts, terms_from_order
from tests.support.gateways.stages import STAGES

_HELD = read_supported_discounts()
_UNTIL = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
_DURATIONS = {"Once": None, "Repeating": 3, "Forever": None}

every = pytest.mark.parametrize("playing", list(registry.MINTABLE), indirect=True)


def _column(playing, name):
    return _HELD[playing.rail.gateway][name]


def _is_held(playing, column):
    return _column(playing, column) not in ("no", "")


def _minted_or_refused(playing, is_held, **discount):
    """Mint a code where the table says that the gateway holds it, else see that it is refused and nothing is made."""
    order = playing.order(**discount)
    if is_held:
        playing.mint(order)
        assert len(playing.books.list_live_ids(order.code)) == 1
        return playing.books.terms(order.code), terms_from_order(order)
    with pytest.raises(DiscountNotHeld, match=r"[a-z ]{9}.*\.$"):
        playing.mint(order)
    assert playing.books.list_live_ids(order.code) == []
    return None, None


def test_every_gateway_that_says_so_mints_codes_and_no_other():
    assert {name for name in Gateway if STAGES[name].gateway.capabilities.coupons} == set(registry.MINTABLE)
    assert set(_HELD) == set(registry.MINTABLE)
    assert [registry.rail(name).gateway for name in registry.MINTABLE] == list(registry.MINTABLE)
    with pytest.raises(LookupError):
        registry.rail("braintree")


@pytest.mark.parametrize("name", registry.MINTABLE)
def test_a_text_that_a_gateway_cannot_hold_is_told(name):
    row, shape = _HELD[name]["Text of a code"], registry.rail(name).shape

    longest = int(row.rpartition("; ")[2])
    assert (shape.explain_refusal("A" * longest), shape.explain_refusal("A" * (longest + 1)) is None) == (None, False)
    assert {sign: shape.explain_refusal(f"A{sign}B") is None for sign in "_-"} == {
        sign: f"`{sign}`" in row for sign in "_-"
    }


@every
def test_a_code_is_minted_as_it_is_ordered(playing):
    order = playing.order()
    assert playing.find(order) is None

    minted = playing.mint(order)

    assert minted
    assert len(playing.books.list_live_ids("JANE15")) == 1
    assert playing.books.terms("JANE15") == terms_from_order(order)
    assert playing.find(order) == minted


@every
@pytest.mark.parametrize("duration", _DURATIONS)
def test_how_long_a_discount_lasts_is_held_as_the_table_says(playing, duration):
    told, wanted = _minted_or_refused(
        playing,
        _is_held(playing, duration),
        duration=DiscountDuration(duration),
        months=_DURATIONS[duration],
    )

    if duration == "Forever" and playing.rail.gateway == "gumroad":
        told = dataclasses.replace(told, duration="forever")  # of products that are paid once
    assert told == wanted


@every
def test_how_often_a_code_may_be_redeemed_is_held_as_the_table_says(playing):
    told, wanted = _minted_or_refused(playing, _is_held(playing, "Cap"), max_redemptions_per_code=7)

    assert told == wanted


@every
def test_when_a_code_expires_is_held_as_the_table_says(playing):
    told, wanted = _minted_or_refused(playing, _is_held(playing, "Expiry"), expires_at=_UNTIL)

    if _column(playing, "Expiry") == "by day":
        assert _UNTIL - timedelta(days=1) <= told.expires_at <= _UNTIL
        told = dataclasses.replace(told, expires_at=_UNTIL)
    assert told == wanted


@every
@pytest.mark.parametrize("count", [1, 2])
def test_products_are_held_as_the_table_says(playing, count):
    products, column = (playing.books.product, playing.books.other_product)[:count], _column(playing, "Products")

    told, wanted = _minted_or_refused(playing, count == 1 or not column.startswith("one"), product_refs=products)

    if column == "whole order":
        wanted = dataclasses.replace(wanted, products=())
    assert told == wanted


@every
def test_an_amount_off_is_in_the_gateways_currency(playing):
    told, wanted = _minted_or_refused(
        playing, True, type=DiscountType.AmountOff, value=1_050, currency=playing.books.currency
    )

    assert told == wanted


@every
def test_an_amount_off_a_product_is_held(playing):
    terms = {"type": DiscountType.AmountOff, "value": 1_050, "currency": playing.books.currency}

    told, wanted = _minted_or_refused(playing, True, product_refs=(playing.books.product,), **terms)

    assert dataclasses.replace(told, products=()) == dataclasses.replace(wanted, products=())


@every
def test_an_amount_off_in_another_currency_is_held_as_the_table_says(playing):
    is_held = _column(playing, "Amounts off in") == "any currency"

    told, wanted = _minted_or_refused(playing, is_held, type=DiscountType.AmountOff, value=1_050, currency="EUR")

    assert told == wanted


@every
def test_asking_again_makes_no_second_code(playing):
    order = playing.order()

    assert playing.mint(order) == playing.mint(order)
    assert len(playing.books.list_live_ids("JANE15")) == 1


@every
def test_a_code_that_was_minted_is_known_though_its_discount_could_not_be_held_any_more(playing):
    order = playing.order()
    minted = playing.mint(order)
    not_held = dataclasses.replace(
        order.family.discount,
        type=DiscountType.AmountOff,
        value=100,
        currency="EUR",
        duration=DiscountDuration.Repeating,
        months=3,
        expires_at=datetime.now(UTC) + timedelta(minutes=5),
    )
    late = dataclasses.replace(order, family=dataclasses.replace(order.family, discount=not_held))

    assert playing.mint(late) == playing.find(late) == minted
    assert len(playing.books.list_live_ids("JANE15")) == 1


@every
@pytest.mark.parametrize("text", ["JANE15", "jane15"])
def test_a_code_of_somebody_else_is_never_adopted(playing, text):
    theirs, order = (
        playing.books.create_as_brand(text.upper() if playing.rail.gateway == "chargebee" else text),
        playing.order(),
    )

    with pytest.raises(CodeTaken, match="JANE15"):
        playing.mint(order)

    assert playing.find(order) is None
    assert playing.books.list_live_ids("JANE15") == [theirs]


@every
def test_a_code_of_another_order_is_never_adopted(playing):
    first, second = playing.order(), playing.order()
    minted = playing.mint(first)

    with pytest.raises(CodeTaken):
        playing.mint(second)

    assert (playing.find(first), playing.find(second)) == (minted, None)


@every
def test_wherever_an_answer_is_lost_asking_again_ends_with_one_code(playing):
    first = playing.order("FIRST")
    before = len(playing.stage.calls)
    playing.mint(first)
    calls = len(playing.stage.calls) - before

    for lost in range(calls):
        order = playing.order(f"LOST{lost}")
        playing.stage.faults.extend([*[""] * lost, "cut"])
        with pytest.raises(GatewayUnreachable):
            playing.mint(order)
        assert not playing.stage.faults

        found, minted = playing.find(order), playing.mint(order)

        assert found in (None, minted)
        assert len(playing.books.list_live_ids(order.code)) == 1
        assert playing.books.terms(order.code) == terms_from_order(order)


@every
def test_a_code_that_ends_cannot_be_redeemed_and_its_text_is_free(playing):
    order = playing.order()
    minted = playing.mint(order)

    for _ in range(2):  # one that is gone already is well
        playing.switch_off(order, minted)
        assert playing.books.list_live_ids("JANE15") == []

    again = playing.order()
    assert playing.mint(again) != minted or playing.rail.gateway == "chargebee"  # there its text is its id
    assert len(playing.books.list_live_ids("JANE15")) == 1
    assert playing.find(again)


@every
def test_ending_a_code_leaves_others_alone(playing):
    order, other = playing.order(), playing.order("OTHER15")
    minted, kept = playing.mint(order), playing.mint(other)

    playing.switch_off(order, minted)

    assert playing.find(other) == kept
    assert len(playing.books.list_live_ids("OTHER15")) == 1


@every
@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_refused_credentials_are_told_as_such(playing, fault):
    order = playing.order()
    minted = playing.mint(order)

    for act in (
        lambda: playing.mint(playing.order("OTHER15")),
        lambda: playing.find(order),
        lambda: playing.switch_off(order, minted),
    ):
        playing.stage.faults.extend([fault] * 9)
        with pytest.raises(CredentialsRefused):
            act()
        playing.stage.faults.clear()

    assert len(playing.books.list_live_ids("JANE15")) == 1


@every
@pytest.mark.parametrize("fault", ["busy", "fail", "html"])
def test_a_gateway_that_gives_no_usable_answer_is_away(playing, fault):
    order = playing.order()
    minted = playing.mint(order)

    for act in (lambda: playing.find(order), lambda: playing.switch_off(order, minted), lambda: playing.mint(order)):
        playing.stage.faults.extend([fault] * 9)
        with pytest.raises(GatewayUnreachable):
            act()
        playing.stage.faults.clear()

    assert playing.find(order) == minted
