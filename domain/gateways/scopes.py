"""Prefixes that keep the ids of different accounts of a gateway, and of test connections, apart.

An order's number is unique within its shop only. A brand that connects another shop later has other orders with the
same numbers; and a shop without a test mode reports the same order to a live and to a test connection.
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

_TEST_PREFIX = "test:"


@dataclass(frozen=True, slots=True)
class EarlierAccount:
    """An account that was connected before: its identity at the gateway, and the prefix of its ids."""

    identity: Sequence[str]
    id_prefix: str


def prefix(
    identity: Sequence[str], earlier: Sequence[EarlierAccount], *, own_ids: bool, is_test_connection: bool
) -> str:
    """Return the prefix of an account's ids; empty for most.

    `earlier` are the accounts of the same gateway and mode. The first has no prefix, further ones of a gateway with
    `own_ids` their own; a reconnected account keeps its prefix. `is_test_connection`: it
    is a test connection to an account that its gateway does not mark as a test account.
    """
    test_prefix = _TEST_PREFIX if is_test_connection else ""
    if not own_ids or not identity or not earlier:
        return test_prefix
    same = next((account for account in earlier if account.identity and account.identity[0] == identity[0]), None)
    return same.id_prefix if same else f"{test_prefix}{identity[0]}:"


def add_prefix(fact: Fact, id_prefix: str) -> Fact:
    """Return a fact with a prefix before its ids."""
    if not id_prefix:
        return fact
    match fact:
        case PaymentFact():
            aliases = _prefix_all(fact.aliases, id_prefix)
            external_id, origin = id_prefix + fact.external_id, _prefix_origin(fact.origin, id_prefix)
            order_id = _prefix_optional(fact.order_id, id_prefix)
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
            sale_ids, refund_id = _prefix_all(fact.sale_ids, id_prefix), _prefix_optional(fact.refund_id, id_prefix)
            return replace(fact, sale_ids=sale_ids, refund_id=refund_id)
        case DisputeFact():
            return replace(fact, dispute_id=id_prefix + fact.dispute_id, sale_ids=_prefix_all(fact.sale_ids, id_prefix))
    return fact


def _prefix_origin(origin: BuyerOrigin, id_prefix: str) -> BuyerOrigin:
    return replace(
        origin,
        customer_id=_prefix_optional(origin.customer_id, id_prefix),
        subscription_id=_prefix_optional(origin.subscription_id, id_prefix),
    )


def _prefix_all(ids: Sequence[str], id_prefix: str) -> tuple[str, ...]:
    return tuple(id_prefix + external_id for external_id in ids)


def _prefix_optional(external_id: str | None, id_prefix: str) -> str | None:
    return id_prefix + external_id if external_id else external_id
