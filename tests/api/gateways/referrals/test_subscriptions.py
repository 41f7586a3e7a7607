"""A subscription is read, in one call, only if neither the payment nor its customer names an affiliate."""

import pytest

from tests.support.gateways.stage import Purchase

_BUYER = {"customer": "1", "email": "ann@example.com"}
_PATHS = {
    "stripe": "/v1/subscriptions/sub_1",
    "paddle": "/subscriptions/sub_1",
    "mollie": "/v2/customers/cst_1/subscriptions/sub_1",
}
_CUSTOMERS = {"stripe": "/v1/customers/cus_1", "paddle": "/customers/ctm_1", "mollie": "/v2/customers/cst_1"}
_FIELDS = {"stripe": "metadata", "paddle": "custom_data", "mollie": "metadata"}
reading_gateways = pytest.mark.parametrize("stage", _PATHS, indirect=True)


def _renew(shop, **purchase):
    first = shop.stage.pay(Purchase(slug=None, **_BUYER))
    return shop.stage.pay(Purchase(cents=10_000, **{"slug": None, **_BUYER, **purchase}, renews=first))


def _count_calls(shop):
    return [call.path for call in shop.stage.calls].count(_PATHS[shop.stage.gateway.name])


@reading_gateways
def test_subscription_names_the_affiliate(shop):
    sale, name = _renew(shop), shop.stage.gateway.name
    shop.stage.objects[_PATHS[name]] = {"id": "sub_1", _FIELDS[name]: {"affiliate_slug": "jane"}}
    shop.receive(sale.notifications[0])
    assert shop.conversions("external_event_id") == [(sale.id,)]
    assert _count_calls(shop) == 1


@reading_gateways
def test_subscription_is_not_read_if_payment_names_an_affiliate(shop):
    shop.receive(_renew(shop, slug="jane").notifications[0])
    assert len(shop.conversions()) == 1
    assert _count_calls(shop) == 0


@reading_gateways
def test_subscription_is_not_read_if_customer_names_an_affiliate(shop):
    sale, name = _renew(shop), shop.stage.gateway.name
    shop.stage.objects[_CUSTOMERS[name]] |= {_FIELDS[name]: {"affiliate_slug": "jane"}}
    shop.receive(sale.notifications[0])
    assert len(shop.conversions()) == 1
    assert _count_calls(shop) == 0


@reading_gateways
def test_missing_subscription_is_requested_once(shop):
    sale = _renew(shop)
    shop.receive(sale.notifications[0])
    assert shop.conversions() == []
    assert _count_calls(shop) == 1
