"""WooCommerce coupons: lower case, meta data, read-only keys, shops without permalinks."""

import pytest

from adapters.gateways.base import CredentialsRefused
from domain.coupons.discounts import DiscountType


def test_meta_data_contains_the_code_id(simulated_rail):
    order = simulated_rail.order("JANE-15")
    simulated_rail.mint(order)
    coupon = simulated_rail.books.get_by_code("JANE-15")
    assert coupon["code"] == "jane-15"
    assert coupon["meta_data"] == [{"key": "_affiliate_coupon_id", "value": str(order.code_id)}]


@pytest.mark.parametrize(
    ("terms", "kind", "amount"),
    [
        ({}, "percent", "15"),
        ({"type": DiscountType.AmountOff, "value": 1_050, "currency": "USD"}, "fixed_cart", "10.50"),
    ],
)
def test_amount_is_decimal_text(simulated_rail, terms, kind, amount):
    simulated_rail.mint(simulated_rail.order(**terms))
    assert [simulated_rail.books.get_by_code("JANE15")[name] for name in ("discount_type", "amount")] == [kind, amount]


def test_currency_without_decimals_uses_whole_units(simulated_rail):
    simulated_rail.books.currency = "JPY"
    simulated_rail.mint(simulated_rail.order(type=DiscountType.AmountOff, value=1_050, currency="JPY"))
    assert simulated_rail.books.get_by_code("JANE15")["amount"] == "1050"


def test_read_only_key_raises_credentials_refused(simulated_rail):
    simulated_rail.books.may_write = False
    with pytest.raises(CredentialsRefused):
        simulated_rail.mint(simulated_rail.order())


def test_shop_without_permalinks_mints_and_switches_off(simulated_rail):
    simulated_rail.stage.has_permalinks = False
    order = simulated_rail.order()
    minted = simulated_rail.mint(order)
    simulated_rail.deactivate(order, minted)
    assert simulated_rail.books.rows == []
