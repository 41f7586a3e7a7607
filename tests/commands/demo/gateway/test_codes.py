"""Coupons and promotion codes of the gateway that is played, as stripe's own client asks for them."""

import pytest
import stripe

_PRICE = 4_900


class _Shop:
    """The gateway as the server of a brand asks it."""

    def __init__(self, client):
        self.client = client

    def coupon(self, **terms):
        if "amount_off" not in terms:
            terms = {"percent_off": 20, **terms}
        return self.client.v1.coupons.create({"duration": "once", **terms})

    def code(self, text, *, limits=None, **terms):
        promotion = {"type": "coupon", "coupon": self.coupon(**terms).id}
        return self.client.v1.promotion_codes.create({"promotion": promotion, "code": text, **(limits or {})})

    def redeem(self, code):
        """Start a subscription with a code; return it with its first invoice."""
        customer = self.client.v1.customers.create({"email": "ann@example.com"})
        items = [{"price_data": {"unit_amount": _PRICE, "currency": "eur"}}]
        wanted = {"customer": customer.id, "items": items, "discounts": [{"promotion_code": code}]}
        made = self.client.v1.subscriptions.create(wanted)
        return made, self.invoice(made)

    def renew(self, subscription):
        return self.invoice(self.client.v1.subscriptions.update(subscription.id, {"billing_cycle_anchor": "now"}))

    def invoice(self, subscription):
        return self.client.v1.invoices.retrieve(subscription.latest_invoice, {"expand": ["discounts"]})


@pytest.fixture
def shop(client):
    """The gateway that is played."""
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
def test_a_code_takes_off_what_its_coupon_says(shop, terms, paid):
    _, invoice = shop.redeem(shop.code("SPRING", **terms).id)

    assert (invoice.subtotal, invoice.total, invoice.amount_paid) == (_PRICE, paid, paid)
    assert [one.amount for one in invoice.total_discount_amounts] == [_PRICE - paid]
    assert [charge.amount for charge in shop.client.v1.charges.list().data] == ([paid] if paid else [])


def test_an_invoice_names_its_discount_by_its_id_unless_more_is_asked_for(shop):
    made = shop.code("SPRING")
    _, shown = shop.redeem(made.id)

    (discount,) = shown.discounts
    assert (discount.promotion_code, discount.source.type) == (made.id, "coupon")
    assert shop.client.v1.invoices.retrieve(shown.id).discounts == [discount.id]
    (told,) = shop.client.v1.events.list({"types": ["invoice.paid"]}).data
    assert told.data.object.discounts == [discount.id]


@pytest.mark.parametrize(
    ("terms", "paid"),
    [
        ({"duration": "once"}, _PRICE),
        ({"duration": "forever"}, 3_920),
        ({"duration": "repeating", "duration_in_months": 3}, 3_920),
    ],
)
def test_a_renewal_is_cheaper_as_long_as_the_coupon_says(shop, terms, paid):
    subscription, _ = shop.redeem(shop.code("SPRING", **terms).id)

    again = shop.renew(subscription)

    assert (again.amount_paid, len(again.discounts)) == (paid, 1 if paid < _PRICE else 0)


def test_what_was_given_outlives_the_coupon(shop):
    made = shop.code("SPRING", duration="forever")
    subscription, _ = shop.redeem(made.id)
    shop.client.v1.coupons.delete(made.promotion.coupon)

    assert shop.renew(subscription).amount_paid == 3_920
    assert shop.client.v1.coupons.list().data == []


def test_a_code_is_redeemed_as_often_as_it_may_be(shop):
    made = shop.code("SPRING", limits={"max_redemptions": 2})
    for _ in range(2):
        shop.redeem(made.id)

    with pytest.raises(stripe.InvalidRequestError, match="not redeemable"):
        shop.redeem(made.id)
    assert shop.client.v1.promotion_codes.retrieve(made.id).times_redeemed == 2
    assert len(shop.client.v1.subscriptions.list().data) == 2


def test_a_code_that_ended_is_not_redeemed_and_its_text_is_free(shop):
    codes, past = shop.client.v1.promotion_codes, 1_700_000_000
    off, orphan = shop.code("SPRING"), shop.code("ORPHAN")
    codes.update(off.id, {"active": False})
    shop.client.v1.coupons.delete(orphan.promotion.coupon)
    ended = [off, orphan, shop.code("OLD", limits={"expires_at": past}), shop.code("OLDER", redeem_by=past)]
    abroad = shop.code("ABROAD", amount_off=900, currency="usd")

    for one in [*ended, abroad]:
        with pytest.raises(stripe.InvalidRequestError):
            shop.redeem(one.id)
    with pytest.raises(stripe.InvalidRequestError, match="No such promotion code"):
        shop.redeem("promo_none")
    assert shop.client.v1.subscriptions.list().data == []
    again = shop.code("spring")
    assert [one.id for one in codes.list({"code": "SPRING", "active": True}).data] == [again.id]
    assert [one.id for one in codes.list({"code": "SPRING"}).data] == [again.id, off.id]
    with pytest.raises(stripe.InvalidRequestError, match="already exists"):
        codes.update(off.id, {"active": True})


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
def test_what_cannot_be_a_coupon_is_refused(shop, terms):
    with pytest.raises(stripe.InvalidRequestError):
        shop.coupon(**terms)

    assert shop.client.v1.coupons.list().data == []


@pytest.mark.parametrize("text", ["", "A_B", "ÄB", "A B", "A" * 501])
def test_what_cannot_be_a_code_is_refused(shop, text):
    with pytest.raises(stripe.InvalidRequestError):
        shop.code(text)

    assert shop.client.v1.promotion_codes.list().data == []


def test_what_is_asked_again_under_its_key_is_made_once(shop):
    for make in (
        lambda: shop.client.v1.coupons.create({"duration": "once", "percent_off": 5}, {"idempotency_key": "coupon:1"}),
        lambda: shop.client.v1.customers.create({"email": "ann@example.com"}, {"idempotency_key": "ann/1"}),
    ):
        assert make().id == make().id
    assert len(shop.client.v1.coupons.list().data) == len(shop.client.v1.customers.list().data) == 1
