"""Guarantees of every coupon rail, over HTTP against simulated gateways: codes are minted once and never adopted."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from adapters.coupons import registry
from adapters.coupons.base import CodeTaken, DiscountUnsupported
from adapters.gateways.base import CredentialsRefused, GatewayUnreachable
from domain.coupons.discounts import DiscountDuration, DiscountType
from domain.gateways.names import Gateway
from tests.support.gateways.code_orders import read_supported_discounts, terms_from_order
from tests.support.gateways.stages import STAGES

_SUPPORTED = read_supported_discounts()
_UNTIL = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
_DURATIONS = {"Once": None, "Repeating": 3, "Forever": None}

each_coupon_rail = pytest.mark.parametrize("simulated_rail", list(registry.MINTABLE), indirect=True)


def _column(simulated_rail, name):
    return _SUPPORTED[simulated_rail.rail.gateway][name]


def _is_supported(simulated_rail, column):
    return _column(simulated_rail, column) not in ("no", "")


def _mint_or_expect_refusal(simulated_rail, is_held, **discount):
    """Mint a code if the gateway supports the discount; otherwise assert that it is refused and nothing is created."""
    order = simulated_rail.order(**discount)
    if is_held:
        simulated_rail.mint(order)
        assert len(simulated_rail.books.list_live_ids(order.code)) == 1
        return simulated_rail.books.terms(order.code), terms_from_order(order)
    with pytest.raises(DiscountUnsupported, match=r"[a-z ]{9}.*\.$"):
        simulated_rail.mint(order)
    assert simulated_rail.books.list_live_ids(order.code) == []
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


@each_coupon_rail
def test_code_is_minted_with_the_ordered_terms(simulated_rail):
    order = simulated_rail.order()
    assert simulated_rail.find(order) is None

    minted = simulated_rail.mint(order)

    assert minted
    assert len(simulated_rail.books.list_live_ids("JANE15")) == 1
    assert simulated_rail.books.terms("JANE15") == terms_from_order(order)
    assert simulated_rail.find(order) == minted


@each_coupon_rail
@pytest.mark.parametrize("duration", _DURATIONS)
def test_duration_is_supported_as_documented(simulated_rail, duration):
    terms, expected = _mint_or_expect_refusal(
        simulated_rail,
        _is_supported(simulated_rail, duration),
        duration=DiscountDuration(duration),
        months=_DURATIONS[duration],
    )

    if duration == "Forever" and simulated_rail.rail.gateway == "gumroad":
        terms = dataclasses.replace(terms, duration="forever")  # one-time products
    assert terms == expected


@each_coupon_rail
def test_redemption_cap_is_supported_as_documented(simulated_rail):
    terms, expected = _mint_or_expect_refusal(
        simulated_rail, _is_supported(simulated_rail, "Cap"), max_redemptions_per_code=7
    )

    assert terms == expected


@each_coupon_rail
def test_expiry_is_supported_as_documented(simulated_rail):
    terms, expected = _mint_or_expect_refusal(
        simulated_rail, _is_supported(simulated_rail, "Expiry"), expires_at=_UNTIL
    )

    if _column(simulated_rail, "Expiry") == "by day":
        assert _UNTIL - timedelta(days=1) <= terms.expires_at <= _UNTIL
        terms = dataclasses.replace(terms, expires_at=_UNTIL)
    assert terms == expected


@each_coupon_rail
@pytest.mark.parametrize("count", [1, 2])
def test_products_are_supported_as_documented(simulated_rail, count):
    products, column = (
        (simulated_rail.books.product, simulated_rail.books.other_product)[:count],
        _column(simulated_rail, "Products"),
    )

    terms, expected = _mint_or_expect_refusal(
        simulated_rail, count == 1 or not column.startswith("one"), product_refs=products
    )

    if column == "whole order":
        expected = dataclasses.replace(expected, products=())
    assert terms == expected


@each_coupon_rail
def test_amount_off_in_the_gateways_currency_is_supported(simulated_rail):
    terms, expected = _mint_or_expect_refusal(
        simulated_rail, True, type=DiscountType.AmountOff, value=1_050, currency=simulated_rail.books.currency
    )

    assert terms == expected


@each_coupon_rail
def test_amount_off_a_product_is_supported(simulated_rail):
    terms = {"type": DiscountType.AmountOff, "value": 1_050, "currency": simulated_rail.books.currency}

    minted_terms, expected = _mint_or_expect_refusal(
        simulated_rail, True, product_refs=(simulated_rail.books.product,), **terms
    )

    assert dataclasses.replace(minted_terms, products=()) == dataclasses.replace(expected, products=())


@each_coupon_rail
def test_amount_off_in_another_currency_is_supported_as_documented(simulated_rail):
    is_held = _column(simulated_rail, "Amounts off in") == "any currency"

    terms, expected = _mint_or_expect_refusal(
        simulated_rail, is_held, type=DiscountType.AmountOff, value=1_050, currency="EUR"
    )

    assert terms == expected


@each_coupon_rail
def test_minting_again_creates_no_second_code(simulated_rail):
    order = simulated_rail.order()

    assert simulated_rail.mint(order) == simulated_rail.mint(order)
    assert len(simulated_rail.books.list_live_ids("JANE15")) == 1


@each_coupon_rail
def test_minted_code_is_returned_even_if_its_discount_became_unsupported(simulated_rail):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)
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

    assert simulated_rail.mint(changed) == simulated_rail.find(changed) == minted
    assert len(simulated_rail.books.list_live_ids("JANE15")) == 1


@each_coupon_rail
@pytest.mark.parametrize("text", ["JANE15", "jane15"])
def test_foreign_code_is_never_adopted(simulated_rail, text):
    other_id, order = (
        simulated_rail.books.create_as_brand(text.upper() if simulated_rail.rail.gateway == "chargebee" else text),
        simulated_rail.order(),
    )

    with pytest.raises(CodeTaken, match="JANE15"):
        simulated_rail.mint(order)

    assert simulated_rail.find(order) is None
    assert simulated_rail.books.list_live_ids("JANE15") == [other_id]


@each_coupon_rail
def test_code_of_another_order_is_never_adopted(simulated_rail):
    first, second = simulated_rail.order(), simulated_rail.order()
    minted = simulated_rail.mint(first)

    with pytest.raises(CodeTaken):
        simulated_rail.mint(second)

    assert (simulated_rail.find(first), simulated_rail.find(second)) == (minted, None)


@each_coupon_rail
def test_lost_response_at_any_call_leads_to_one_code(simulated_rail):
    first = simulated_rail.order("FIRST")
    calls_before = len(simulated_rail.stage.calls)
    simulated_rail.mint(first)
    calls = len(simulated_rail.stage.calls) - calls_before

    for lost_call in range(calls):
        order = simulated_rail.order(f"LOST{lost_call}")
        simulated_rail.stage.faults.extend([*[""] * lost_call, "cut"])
        with pytest.raises(GatewayUnreachable):
            simulated_rail.mint(order)
        assert not simulated_rail.stage.faults

        found_id, minted = simulated_rail.find(order), simulated_rail.mint(order)

        assert found_id in (None, minted)
        assert len(simulated_rail.books.list_live_ids(order.code)) == 1
        assert simulated_rail.books.terms(order.code) == terms_from_order(order)


@each_coupon_rail
def test_switched_off_code_is_unusable_and_its_text_is_free(simulated_rail):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)

    for _ in range(2):  # switching off a deleted code succeeds
        simulated_rail.deactivate(order, minted)
        assert simulated_rail.books.list_live_ids("JANE15") == []

    again = simulated_rail.order()
    assert (
        simulated_rail.mint(again) != minted or simulated_rail.rail.gateway == "chargebee"
    )  # Chargebee uses the code as the id
    assert len(simulated_rail.books.list_live_ids("JANE15")) == 1
    assert simulated_rail.find(again)


@each_coupon_rail
def test_deactivation_leaves_other_codes_alone(simulated_rail):
    order, other = simulated_rail.order(), simulated_rail.order("OTHER15")
    minted, other_minted = simulated_rail.mint(order), simulated_rail.mint(other)

    simulated_rail.deactivate(order, minted)

    assert simulated_rail.find(other) == other_minted
    assert len(simulated_rail.books.list_live_ids("OTHER15")) == 1


@each_coupon_rail
@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_rejected_credentials_raise_credentials_refused(simulated_rail, fault):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)

    for act in (
        lambda: simulated_rail.mint(simulated_rail.order("OTHER15")),
        lambda: simulated_rail.find(order),
        lambda: simulated_rail.deactivate(order, minted),
    ):
        simulated_rail.stage.faults.extend([fault] * 9)
        with pytest.raises(CredentialsRefused):
            act()
        simulated_rail.stage.faults.clear()

    assert len(simulated_rail.books.list_live_ids("JANE15")) == 1


@each_coupon_rail
@pytest.mark.parametrize("fault", ["busy", "fail", "html"])
def test_unusable_response_raises_gateway_unreachable(simulated_rail, fault):
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)

    for act in (
        lambda: simulated_rail.find(order),
        lambda: simulated_rail.deactivate(order, minted),
        lambda: simulated_rail.mint(order),
    ):
        simulated_rail.stage.faults.extend([fault] * 9)
        with pytest.raises(GatewayUnreachable):
            act()
        simulated_rail.stage.faults.clear()

    assert simulated_rail.find(order) == minted
