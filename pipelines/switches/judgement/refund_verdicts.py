"""Negative commissions become refunds of the conversions that they take back."""

from collections.abc import Sequence
from uuid import UUID

from domain.switches.decisions import external_event_id, refund_id
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.records import CommissionKind
from models.switches.judgement import known_records, refund_lookups
from models.switches.judgement.items import Item
from models.switches.judgement.refund_lookups import SaleItem
from pipelines.switches.judgement import commission_verdicts, verdicts
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding.context import Judging

# A negative commission that was paid there was taken from a payout there; one that is held there is in doubt.
_NOT_SETTLED = (CommissionKind.Owed, CommissionKind.Pending)


def judge(judging: Judging, slice_items: Sequence[Item]) -> list[ItemVerdict]:
    """Return the verdicts on negative commissions, after all others were judged.

    Each is booked on the sale of its payment or charge, else on the customer's newest sale of at least that commission
    before it, up to what earlier refunds left of it. Budget: 3 round trips for any number of rows.
    """
    organization_id = judging.switch.organization_id
    booked = known_records.find_refunds(
        organization_id=organization_id,
        refund_ids=[refund_id(organization_id, judging.switch.source, item.source_id) for item in slice_items],
    )
    sales = refund_lookups.find_refunded_sales(
        **judging.switch.key, source_ids=[item.source_id for item in slice_items]
    )
    left = _Left(judging, {sale.source_id: sale for sale in sales.values()})
    return [_judge_one(judging, item, sales.get(item.source_id), left, booked) for item in slice_items]


class _Left:
    """What is left of the sales to take back."""

    def __init__(self, judging: Judging, sales: dict[str, SaleItem]) -> None:
        taken = refund_lookups.sum_refunds(**judging.switch.key, keys=[_key(source_id) for source_id in sales])
        self._left: dict[str, list[int]] = {}
        for source_id, sale in sales.items():
            amount, commission = taken.get(_key(source_id), (0, 0))
            self._left[source_id] = [
                max(sale.amount_cents - sale.refunded_cents - amount, 0),
                max(sale.commission_cents - commission, 0),
            ]

    def take(self, source_id: str, *, amount_cents: int, commission_cents: int) -> tuple[int, int]:
        """Return how much of these can still be taken from a sale, and take it."""
        left = self._left[source_id]
        taken = min(amount_cents, left[0]), min(commission_cents, left[1])
        left[0] -= taken[0]
        left[1] -= taken[1]
        return taken


def _judge_one(judging: Judging, item: Item, sale: SaleItem | None, left: _Left, booked: set[UUID]) -> ItemVerdict:
    reason = commission_verdicts.reason_without_facts(judging, item)
    if reason is not None:
        return verdicts.leave_out(item, reason)
    if sale is None:
        return verdicts.leave_out(item, LeftOutReason.NegativeWithoutSale)
    organization_id, source = judging.switch.organization_id, judging.switch.source
    target_id = refund_id(organization_id, source, item.source_id)
    amount, commission = left.take(
        sale.source_id, amount_cents=-min(item.amount_cents or 0, 0), commission_cents=-(item.commission_cents or 0)
    )
    decision = {
        "act": "refund",
        "conversion_id": sale.target_id,
        "affiliate_id": sale.affiliate_id,
        "program_id": sale.program_id,
        "external_event_id": external_event_id(source, item.source_id),
        "status": sale.status,
        "is_locked": sale.is_locked,
        "is_owed_back": judging.options.unpaid == "payable" and item.kind in _NOT_SETTLED,
        "type": "OneTime",
        "currency": item.currency,
        "amount_cents": 0,
        "refunded_cents": amount,
        "commission_cents": commission,
        "occurred_at": item.occurred_at,
    }
    is_known = target_id in booked
    return ItemVerdict(
        item,
        SwitchVerdict.Known if is_known else SwitchVerdict.New,
        decision=decision,
        target_type="refund",
        target_id=target_id,
        key=_key(sale.source_id),
    )


def _key(sale_source_id: str) -> str:
    """Return the key of refunds of a sale: by it later slices find what is taken already."""
    return f"refund of {sale_source_id}"
