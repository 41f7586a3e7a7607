"""What every coupon rail guarantees, over HTTP against simulated gateways: codes are minted once and never adopted."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from adapters.coupons import registry
from adapters.coupons.base import CodeTaken, DiscountNotHeld
from adapters.gateways.base import CredentialsRefused, GatewayUnreachable
from domain.coupons.discounts import DiscountDuration, DiscountType
from domain.gateways.names import Gateway
from tests.support.gateways.ordering import held, terms_of
from tests.support.gateways.stages import STAGES

_SUPPORTED = held()
_UNTIL = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
_DURATIONS = {"Once": None, "Repeating": 3, "Forever": None}

every = pytest.mark.parametrize("playing", list(registry.MINTABLE), indirect=True)


def _column(playing, name):
    return _SUPPORTED[playing.rail.gateway][name]


def _is_supported(playing, column):
    return _column(playing, column) not in ("no", "")


def _mint_or_expect_refusal(playing, is_held, **discount):
    """Mint a code if the gateway supports the discount; otherwise assert that it is refused and nothing is created."""
    order = playing.order(**discount)
    if is_held:
        playing.mint(order)
        assert len(playing.books.live(order.code)) == 1
        return playing.books.terms(order.code), terms_of(order)
    with pytest.raises(DiscountNotHeld, match=r"[a-z ]{9}.*\.$"):
        playing.mint(order)
    assert playing.books.live(order.code) == []
    return None, None


def test_exactly_the_gateways_with_the_coupons_capability_mint():
    assert {name for name in Gateway if STAGES[name].gateway.capabilities.coupons} == set(registry.MINTABLE)
    assert set(_SUPPORTED) == set(registry.MINTABLE)
    assert [registry.rail(name).gateway for name in registry.MINTABLE] == list(registry.MINTABLE)
    with pytest.raises(LookupError):
        registry.rail("braintree")


@pytest.mark.parametrize("name", registry.MINTABLE)
def test_unsupported_code_text_is_explained(name):
    row, shape = _SUPPORTED[name]["Text of a code"], registry.rail(name).shape

    max_length = int(row.rpartition("; ")[2])
    assert (shape.explain_refusal("A" * max_length), shape.explain_refusal("A" * (max_length + 1)) is None) == (
        None,
        False,
    )
    assert {sign: shape.explain_refusal(f"A{sign}B") is None for sign in "_-"} == {
        sign: f"`{sign}`" in row for sign in "_-"
    }


@every
def test_code_is_minted_with_the_ordered_terms(rail):
    order = rail.order()
    assert rail.find(order) is None

    minted = rail.mint(order)

    assert minted
    assert len(rail.books.live("JANE15")) == 1
    assert rail.books.terms("JANE15") == terms_of(order)
    assert rail.find(order) == minted


@every
@pytest.mark.parametrize("duration", _DURATIONS)
def test_duration_is_supported_as_documented(rail, duration):
    terms, expected = _mint_or_expect_refusal(
        rail,
        _is_supported(rail, duration),
        duration=DiscountDuration(duration),
        months=_DURATIONS[duration],
    )

    if duration == "Forever" and rail.rail.gateway == "gumroad":
        terms = dataclasses.replace(terms, duration="forever")  # one-time products
    assert terms == expected


@every
def test_redemption_cap_is_supported_as_documented(rail):
    terms, expected = _mint_or_expect_refusal(rail, _is_supported(rail, "Cap"), max_redemptions_per_code=7)

    assert terms == expected


@every
def test_expiry_is_supported_as_documented(rail):
    terms, expected = _mint_or_expect_refusal(rail, _is_supported(rail, "Expiry"), expires_at=_UNTIL)

    if _column(rail, "Expiry") == "by day":
        assert _UNTIL - timedelta(days=1) <= terms.expires_at <= _UNTIL
        terms = dataclasses.replace(terms, expires_at=_UNTIL)
    assert terms == expected


@every
@pytest.mark.parametrize("count", [1, 2])
def test_products_are_supported_as_documented(rail, count):
    products, column = (rail.books.product, rail.books.other_product)[:count], _column(rail, "Products")

    terms, expected = _mint_or_expect_refusal(rail, count == 1 or not column.startswith("one"), product_refs=products)

    if column == "whole order":
        expected = dataclasses.replace(expected, products=())
    assert terms == expected


@every
def test_amount_off_in_the_gateways_currency_is_supported(rail):
    terms, expected = _mint_or_expect_refusal(
        rail, True, type=DiscountType.AmountOff, value=1_050, currency=rail.books.currency
    )

    assert terms == expected


@every
def test_amount_off_a_product_is_supported(rail):
    terms = {"type": DiscountType.AmountOff, "value": 1_050, "currency": rail.books.currency}

    minted_terms, expected = _mint_or_expect_refusal(rail, True, product_refs=(rail.books.product,), **terms)

    assert dataclasses.replace(minted_terms, products=()) == dataclasses.replace(expected, products=())


@every
def test_amount_off_in_another_currency_is_supported_as_documented(rail):
    is_held = _column(rail, "Amounts off in") == "any currency"

    terms, expected = _mint_or_expect_refusal(rail, is_held, type=DiscountType.AmountOff, value=1_050, currency="EUR")

    assert terms == expected


@every
def test_minting_again_creates_no_second_code(rail):
    order = rail.order()

    assert rail.mint(order) == rail.mint(order)
    assert len(rail.books.live("JANE15")) == 1


@every
def test_minted_code_is_returned_even_if_its_discount_became_unsupported(rail):
    order = rail.order()
    minted = rail.mint(order)
    not_held = dataclasses.replace(
        order.family.discount,
        type=DiscountType.AmountOff,
        value=100,
        currency="EUR",
        duration=DiscountDuration.Repeating,
        months=3,
        expires_at=datetime.now(UTC) + timedelta(minutes=5),
    )
    changed = dataclasses.replace(order, family=dataclasses.replace(order.family, discount=not_held))

    assert rail.mint(changed) == rail.find(changed) == minted
    assert len(rail.books.live("JANE15")) == 1


@every
@pytest.mark.parametrize("text", ["JANE15", "jane15"])
def test_foreign_code_is_never_adopted(rail, text):
    other_id, order = rail.books.plant(text.upper() if rail.rail.gateway == "chargebee" else text), rail.order()

    with pytest.raises(CodeTaken, match="JANE15"):
        rail.mint(order)

    assert rail.find(order) is None
    assert rail.books.live("JANE15") == [other_id]


@every
def test_code_of_another_order_is_never_adopted(rail):
    first, second = rail.order(), rail.order()
    minted = rail.mint(first)

    with pytest.raises(CodeTaken):
        rail.mint(second)

    assert (rail.find(first), rail.find(second)) == (minted, None)


@every
def test_lost_response_at_any_call_leads_to_one_code(rail):
    first = rail.order("FIRST")
    calls_before = len(rail.stage.asked)
    rail.mint(first)
    calls = len(rail.stage.asked) - calls_before

    for lost_call in range(calls):
        order = rail.order(f"LOST{lost_call}")
        rail.stage.faults.extend([*[""] * lost_call, "cut"])
        with pytest.raises(GatewayUnreachable):
            rail.mint(order)
        assert not rail.stage.faults

        found_id, minted = rail.find(order), rail.mint(order)

        assert found_id in (None, minted)
        assert len(rail.books.live(order.code)) == 1
        assert rail.books.terms(order.code) == terms_of(order)


@every
def test_switched_off_code_is_unusable_and_its_text_is_free(rail):
    order = rail.order()
    minted = rail.mint(order)

    for _ in range(2):  # switching off a deleted code succeeds
        rail.switch_off(order, minted)
        assert rail.books.live("JANE15") == []

    again = rail.order()
    assert rail.mint(again) != minted or rail.rail.gateway == "chargebee"  # Chargebee uses the code as the id
    assert len(rail.books.live("JANE15")) == 1
    assert rail.find(again)


@every
def test_switch_off_leaves_other_codes_alone(rail):
    order, other = rail.order(), rail.order("OTHER15")
    minted, other_minted = rail.mint(order), rail.mint(other)

    rail.switch_off(order, minted)

    assert rail.find(other) == other_minted
    assert len(rail.books.live("OTHER15")) == 1


@every
@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_rejected_credentials_raise_credentials_refused(rail, fault):
    order = rail.order()
    minted = rail.mint(order)

    for act in (
        lambda: rail.mint(rail.order("OTHER15")),
        lambda: rail.find(order),
        lambda: rail.switch_off(order, minted),
    ):
        rail.stage.faults.extend([fault] * 9)
        with pytest.raises(CredentialsRefused):
            act()
        rail.stage.faults.clear()

    assert len(rail.books.live("JANE15")) == 1


@every
@pytest.mark.parametrize("fault", ["busy", "fail", "html"])
def test_unusable_response_raises_gateway_unreachable(rail, fault):
    order = rail.order()
    minted = rail.mint(order)

    for act in (lambda: rail.find(order), lambda: rail.switch_off(order, minted), lambda: rail.mint(order)):
        rail.stage.faults.extend([fault] * 9)
        with pytest.raises(GatewayUnreachable):
            act()
        rail.stage.faults.clear()

    assert rail.find(order) == minted
