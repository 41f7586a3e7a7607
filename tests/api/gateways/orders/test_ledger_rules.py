"""The ledger check reports a gateway's conversion that disagrees with its payments."""

from contextlib import suppress

import pytest

from models import db
from models.ledger import rules
from tests.support.gateways.stage import Purchase

_BROKEN_RULES = {
    "update gateway_payment set refunded_cents = refunded_cents + 1": "what a gateway's payment gave back",
    "update conversion set refunded_cents = refunded_cents - 10 where refunded_cents > 0":
        "the conversion of a gateway's payments gave back its share",
    "update gateway_payment p set conversion_id = null from conversion_addition a where a.payment_id = p.id":
        "a further payment of an order is added",
    "update conversion set amount_cents = 3000 where amount_cents = 10000": "what was added to a sale is not more",
}  # fmt: skip


class _RollbackError(Exception):
    """Raised to roll the damage back."""


@pytest.mark.parametrize("stage", ["paypal"], indirect=True)
@pytest.mark.parametrize("damage", _BROKEN_RULES)
def test_damage_to_order_of_two_payments_is_reported(shop, damage):
    first = shop.stage.pay_first_part(Purchase(cents=4_000))
    second = shop.stage.pay_part(first, 6_000)
    shop.receive(*first.notifications, *second.notifications, *shop.stage.refund(second, 1_000))

    assert _find_broken_rules(shop, "select 1") == []
    broken_rules = _find_broken_rules(shop, damage)
    assert [rule for rule in broken_rules if rule.startswith(_BROKEN_RULES[damage])], broken_rules


def _find_broken_rules(shop, damage):
    """Return the rules that a statement breaks, and roll it back."""
    broken_rules = []
    with suppress(_RollbackError), db.unit_of_work(shop.brand.id):
        db.db.run(damage)
        broken_rules = [rule for rule, _ in rules.find_exceptions(shop.brand.id, limit=9)]
        raise _RollbackError
    return broken_rules
