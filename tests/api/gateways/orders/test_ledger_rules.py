"""The ledger check names a conversion of a gateway that does not agree with its payments."""

import pytest

from models import db
from models.ledger import rules
from tests.support.gateways.stage import Purchase

_DAMAGES = {
    "update gateway_payment set refunded_cents = refunded_cents + 1": "what a gateway's payment gave back",
    "update conversion set refunded_cents = refunded_cents - 10 where refunded_cents > 0":
        "the conversion of a gateway's payments gave back its share",
    "update gateway_payment set conversion_id = null where paid_cents = 6000": "a further payment of an order is added",
    "update conversion set amount_cents = 5000 where amount_cents = 10000": "what was added to a sale is not more",
}  # fmt: skip


class _UndoneError(Exception):
    """Raised so that the damage is rolled back."""


@pytest.mark.parametrize("stage", ["paypal"], indirect=True)
@pytest.mark.parametrize("damage", _DAMAGES)
def test_damage_to_an_order_of_two_payments_is_named(shop, damage):
    first = shop.stage.pay_first_part(Purchase(cents=4_000))
    second = shop.stage.pay_part(first, 6_000)
    shop.hear(*first.sent, *second.sent, *shop.stage.refund(second, 1_000))

    with pytest.raises(_UndoneError), db.unit_of_work(shop.brand.id):
        assert rules.broken(shop.brand.id, limit=9) == []
        db.db.run(damage)
        found = rules.broken(shop.brand.id, limit=9)
        assert [rule for rule, _ in found if rule.startswith(_DAMAGES[damage])], found
        raise _UndoneError
