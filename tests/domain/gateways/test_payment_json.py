"""A payment that is kept as JSON is read back as it was."""

from datetime import UTC, datetime

import orjson

from domain.gateways import payment_json
from domain.gateways.facts import BuyerOrigin, Carrier, PaymentFact, RedeemedCode

_PAID = PaymentFact(
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
_BARE = PaymentFact(
    external_id="1", amount_cents=1, currency="JPY", paid_at=datetime(2026, 1, 1, tzinfo=UTC), origin=BuyerOrigin()
)


def test_what_is_written_is_read_back_whole():
    for paid in (_PAID, _BARE):
        assert payment_json.parse(orjson.loads(orjson.dumps(payment_json.serialize(paid)))) == paid
