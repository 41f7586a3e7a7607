"""woocommerce's coupons: lower case, meta data, keys that only read, shops without permalinks."""

import pytest

from adapters.gateways.base import CredentialsRefused
from domain.coupons.discounts import DiscountType


def test_our_id_is_in_the_meta_data(playing):
    order = playing.order("JANE-15")
    playing.mint(order)
    told = playing.books.get_by_code("JANE-15")
    assert told["code"] == "jane-15"
    assert told["meta_data"] == [{"key": "_affiliate_coupon_id", "value": str(order.code_id)}]


@pytest.mark.parametrize(
    ("terms", "kind", "amount"),
    [
        ({}, "percent", "15"),
        ({"type": DiscountType.AmountOff, "value": 1_050, "currency": "USD"}, "fixed_cart", "10.50"),
    ],
)
def test_amounts_are_decimal_text(playing, terms, kind, amount):
    playing.mint(playing.order(**terms))
    assert [playing.books.get_by_code("JANE15")[name] for name in ("discount_type", "amount")] == [kind, amount]


def test_a_shop_whose_currency_has_no_decimals_takes_whole_units(playing):
    playing.books.currency = "JPY"
    playing.mint(playing.order(type=DiscountType.AmountOff, value=1_050, currency="JPY"))
    assert playing.books.get_by_code("JANE15")["amount"] == "1050"


def test_a_key_that_only_reads_is_refused_credentials(playing):
    playing.books.may_write = False
    with pytest.raises(CredentialsRefused):
        playing.mint(playing.order())


def test_a_shop_without_permalinks_mints_too(playing):
    playing.stage.has_permalinks = False
    order = playing.order()
    minted = playing.mint(order)
    playing.switch_off(order, minted)
    assert playing.books.rows == []
