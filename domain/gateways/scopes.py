"""Keeps apart objects of different accounts of a gateway, and of rehearsals, that have the same id.

An order's number is unique within its shop only. A brand that connects another shop later has other orders of the same
numbers; and a shop without a test mode sends the same order to a live connection and to one for trying out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.gateways.facts import (
    AliasFact,
    BuyerOrigin,
    CancelledFact,
    DisputeFact,
    Fact,
    PaymentFact,
    ReferralFact,
    RefundFact,
    RestoredFact,
    StartFact,
    TotalFact,
)

_REHEARSED = "test:"


@dataclass(frozen=True, slots=True)
class EarlierAccount:
    """An account that was connected before: its ids at the gateway, and the prefix of the ids of its objects."""

    identity: Sequence[str]
    id_prefix: str


def prefix(identity: Sequence[str], earlier: Sequence[EarlierAccount], *, own_ids: bool, is_rehearsed: bool) -> str:
    """Return the prefix of the ids of an account, which is empty for most.

    `earlier` are the accounts of the same gateway and mode. The first has no name in front, another one of a gateway
    with `own_ids` its own; an account that is connected again has its former one. `is_rehearsed`: it is connected for
    trying out, but its gateway does not mark it as a test account.
    """
    rehearsed = _REHEARSED if is_rehearsed else ""
    if not own_ids or not identity or not earlier:
        return rehearsed
    same = next((account for account in earlier if account.identity and account.identity[0] == identity[0]), None)
    return same.id_prefix if same else f"{rehearsed}{identity[0]}:"


def within(fact: Fact, id_prefix: str) -> Fact:
    """Return a fact whose ids begin with a prefix; without one, as it is."""
    if not id_prefix:
        return fact
    match fact:
        case PaymentFact():
            aliases = _prefix_all(fact.aliases, id_prefix)
            external_id, origin = id_prefix + fact.external_id, _prefix_origin(fact.origin, id_prefix)
            order_id = _prefix_one(fact.order_id, id_prefix)
            return replace(fact, external_id=external_id, aliases=aliases, origin=origin, order_id=order_id)
        case TotalFact() | CancelledFact():
            return replace(fact, sale_ids=_prefix_all(fact.sale_ids, id_prefix))
        case StartFact():
            return replace(
                fact, external_id=id_prefix + fact.external_id, origin=_prefix_origin(fact.origin, id_prefix)
            )
        case ReferralFact():
            return replace(fact, origin=_prefix_origin(fact.origin, id_prefix))
        case AliasFact():
            return replace(fact, ids=_prefix_all(fact.ids, id_prefix))
        case RefundFact():
            return replace(fact, refund_id=id_prefix + fact.refund_id, sale_ids=_prefix_all(fact.sale_ids, id_prefix))
        case RestoredFact():
            sale_ids, refund_id = _prefix_all(fact.sale_ids, id_prefix), _prefix_one(fact.refund_id, id_prefix)
            return replace(fact, sale_ids=sale_ids, refund_id=refund_id)
        case DisputeFact():
            return replace(fact, dispute_id=id_prefix + fact.dispute_id, sale_ids=_prefix_all(fact.sale_ids, id_prefix))
    return fact


def _prefix_origin(origin: BuyerOrigin, id_prefix: str) -> BuyerOrigin:
    customer, subscription = (
        _prefix_one(object_id, id_prefix) for object_id in (origin.customer_id, origin.subscription_id)
    )
    return replace(origin, customer_id=customer, subscription_id=subscription)


def _prefix_all(ids: Sequence[str], id_prefix: str) -> tuple[str, ...]:
    return tuple(id_prefix + object_id for object_id in ids)


def _prefix_one(object_id: str | None, id_prefix: str) -> str | None:
    return id_prefix + object_id if object_id else object_id
