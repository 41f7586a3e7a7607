"""Coupons and promotion codes of the simulated gateway, requested with Stripe's own client."""

import pytest
import stripe

_PRICE = 4_900


class _Shop:
    """The calls that a brand's server sends to the gateway."""

    def __init__(self, client):
        self.client = client

    def create_coupon(self, **terms):
        if "amount_off" not in terms:
            terms = {"percent_off": 20, **terms}
        return self.client.v1.coupons.create({"duration": "once", **terms})

    def create_code(self, text, *, limits=None, **terms):
        promotion = {"type": "coupon", "coupon": self.create_coupon(**terms).id}
        return self.client.v1.promotion_codes.create({"promotion": promotion, "code": text, **(limits or {})})

    def redeem(self, code):
        """Start a subscription with a code; return it with its first invoice."""
        customer = self.client.v1.customers.create({"email": "ann@example.com"})
        items = [{"price_data": {"unit_amount": _PRICE, "currency": "eur"}}]
        fields = {"customer": customer.id, "items": items, "discounts": [{"promotion_code": code}]}
        subscription = self.client.v1.subscriptions.create(fields)
        return subscription, self.read_invoice(subscription)

    def renew(self, subscription):
        return self.read_invoice(self.client.v1.subscriptions.update(subscription.id, {"billing_cycle_anchor": "now"}))

    def read_invoice(self, subscription):
        return self.client.v1.invoices.retrieve(subscription.latest_invoice, {"expand": ["discounts"]})


@pytest.fixture
def shop(client):
    """Return the simulated gateway as a brand's server calls it."""
    return _Shop(client)


@pytest.mark.parametrize(
    ("terms", "paid"),
    [
        ({"percent_off": 20}, 3_920),
        ({"percent_off": 33}, 3_283),
        ({"percent_off": 100}, 0),
        ({"amount_off": 900, "currency": "eur"}, 4_000),
        ({"amount_off": 5_000, "currency": "eur"}, 0),
    ],
)
def test_code_reduces_the_price_by_its_coupon(shop, terms, paid):
    _, invoice = shop.redeem(shop.create_code("SPRING", **terms).id)

    assert (invoice.subtotal, invoice.total, invoice.amount_paid) == (_PRICE, paid, paid)
    assert [discount.amount for discount in invoice.total_discount_amounts] == [_PRICE - paid]
    assert [charge.amount for charge in shop.client.v1.charges.list().data] == ([paid] if paid else [])


def test_invoice_has_discount_ids_unless_expanded(shop):
    code = shop.create_code("SPRING")
    _, invoice = shop.redeem(code.id)

    (discount,) = invoice.discounts
    assert (discount.promotion_code, discount.source.type) == (code.id, "coupon")
    assert shop.client.v1.invoices.retrieve(invoice.id).discounts == [discount.id]
    (event,) = shop.client.v1.events.list({"types": ["invoice.paid"]}).data
    assert event.data.object.discounts == [discount.id]


@pytest.mark.parametrize(
    ("terms", "paid"),
    [
        ({"duration": "once"}, _PRICE),
        ({"duration": "forever"}, 3_920),
        ({"duration": "repeating", "duration_in_months": 3}, 3_920),
    ],
)
def test_renewal_is_discounted_for_the_coupons_duration(shop, terms, paid):
    subscription, _ = shop.redeem(shop.create_code("SPRING", **terms).id)

    renewal = shop.renew(subscription)

    assert (renewal.amount_paid, len(renewal.discounts)) == (paid, 1 if paid < _PRICE else 0)


def test_granted_discount_outlives_the_deleted_coupon(shop):
    code = shop.create_code("SPRING", duration="forever")
    subscription, _ = shop.redeem(code.id)
    shop.client.v1.coupons.delete(code.promotion.coupon)

    assert shop.renew(subscription).amount_paid == 3_920
    assert shop.client.v1.coupons.list().data == []


def test_code_is_redeemed_up_to_its_limit(shop):
    code = shop.create_code("SPRING", limits={"max_redemptions": 2})
    for _ in range(2):
        shop.redeem(code.id)

    with pytest.raises(stripe.InvalidRequestError, match="not redeemable"):
        shop.redeem(code.id)
    assert shop.client.v1.promotion_codes.retrieve(code.id).times_redeemed == 2
    assert len(shop.client.v1.subscriptions.list().data) == 2


def test_ended_code_is_not_redeemed_and_its_text_is_free(shop):
    codes, past = shop.client.v1.promotion_codes, 1_700_000_000
    inactive, orphan = shop.create_code("SPRING"), shop.create_code("ORPHAN")
    codes.update(inactive.id, {"active": False})
    shop.client.v1.coupons.delete(orphan.promotion.coupon)
    ended = [
        inactive,
        orphan,
        shop.create_code("OLD", limits={"expires_at": past}),
        shop.create_code("OLDER", redeem_by=past),
    ]
    foreign_currency = shop.create_code("ABROAD", amount_off=900, currency="usd")

    for code in [*ended, foreign_currency]:
        with pytest.raises(stripe.InvalidRequestError):
            shop.redeem(code.id)
    with pytest.raises(stripe.InvalidRequestError, match="No such promotion code"):
        shop.redeem("promo_none")
    assert shop.client.v1.subscriptions.list().data == []
    replacement = shop.create_code("spring")
    assert [code.id for code in codes.list({"code": "SPRING", "active": True}).data] == [replacement.id]
    assert [code.id for code in codes.list({"code": "SPRING"}).data] == [replacement.id, inactive.id]
    with pytest.raises(stripe.InvalidRequestError, match="already exists"):
        codes.update(inactive.id, {"active": True})


@pytest.mark.parametrize(
    "terms",
    [
        {"amount_off": 5, "percent_off": 5, "currency": "eur"},
        {"amount_off": 5},
        {"percent_off": 0},
        {"percent_off": 101},
        {"duration": "sometimes"},
        {"duration": "repeating"},
        {"duration_in_months": 3},
        {"name": "n" * 41},
    ],
)
def test_invalid_coupon_is_refused(shop, terms):
    with pytest.raises(stripe.InvalidRequestError):
        shop.create_coupon(**terms)

    assert shop.client.v1.coupons.list().data == []


@pytest.mark.parametrize("text", ["", "A_B", "ÄB", "A B", "A" * 501])
def test_invalid_code_text_is_refused(shop, text):
    with pytest.raises(stripe.InvalidRequestError):
        shop.create_code(text)

    assert shop.client.v1.promotion_codes.list().data == []


def test_repeated_idempotency_key_creates_one_object(shop):
    for create in (
        lambda: shop.client.v1.coupons.create({"duration": "once", "percent_off": 5}, {"idempotency_key": "coupon:1"}),
        lambda: shop.client.v1.customers.create({"email": "ann@example.com"}, {"idempotency_key": "ann/1"}),
    ):
        assert create().id == create().id
    assert len(shop.client.v1.coupons.list().data) == len(shop.client.v1.customers.list().data) == 1
