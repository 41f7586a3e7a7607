"""A payment serialized to JSON parses back unchanged."""

from datetime import UTC, datetime

import orjson

from domain.gateways import payment_json
from domain.gateways.facts import BuyerOrigin, Carrier, PaymentFact, RedeemedCode

_FULL_PAYMENT = PaymentFact(
    external_id="in_1",
    amount_cents=10_890,
    currency="USD",
    paid_at=datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC),
    origin=BuyerOrigin(
        customer_id="cus_1",
        email="ann@example.com",
        name="Ann",
        subscription_id="sub_1",
        carriers=(Carrier("stripe_metadata", {"affiliate_slug": "jane", "sub_id": "x"}),),
        codes=(RedeemedCode("JANE10", "coupon"),),
        is_test=True,
        is_referral_lost=True,
    ),
    aliases=("ch_1", "pi_1"),
    net_cents=9_000,
)
_MINIMAL_PAYMENT = PaymentFact(
    external_id="1", amount_cents=1, currency="JPY", paid_at=datetime(2026, 1, 1, tzinfo=UTC), origin=BuyerOrigin()
)


def test_serialized_payment_parses_back_unchanged():
    for payment in (_FULL_PAYMENT, _MINIMAL_PAYMENT):
        assert payment_json.parse(orjson.loads(orjson.dumps(payment_json.serialize(payment)))) == payment
