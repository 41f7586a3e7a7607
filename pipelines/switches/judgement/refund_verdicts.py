"""Negative commissions become refunds of the conversions that they take back."""

from collections.abc import Sequence

from domain.switches.decisions import external_event_id, refund_id
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.records import CommissionKind
from models.switches.judgement import known_records, refund_lookups
from models.switches.judgement.items import Item
from pipelines.switches.judgement import commission_verdicts, refund_sales, verdicts
from pipelines.switches.judgement.refund_sales import RefundShare
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding.context import Judging

# A negative commission that was paid there was taken from a payout there; one that is held there is in doubt.
_NOT_SETTLED = (CommissionKind.Owed, CommissionKind.Pending)


def judge(judging: Judging, slice_items: Sequence[Item]) -> list[ItemVerdict]:
    """Return the verdicts on negative commissions, after all others were judged.

    Those that are booked already are known. The others take back a sale (`refund_sales`), or are left out.
    Budget: 6 round trips for any number of rows.
    """
    organization_id, source = judging.switch.organization_id, judging.switch.source
    reasons = {item.source_id: commission_verdicts.reason_without_facts(judging, item) for item in slice_items}
    ids = {item.source_id: refund_id(organization_id, source, item.source_id) for item in slice_items}
    booked = known_records.find_refunds(organization_id=organization_id, refund_ids=list(ids.values()))
    shares = refund_sales.choose(
        judging,
        [item for item in slice_items if reasons[item.source_id] is None and ids[item.source_id] not in booked],
    )
    judged = []
    for item in slice_items:
        reason, share = reasons[item.source_id], shares.get(item.source_id)
        if reason is not None:
            verdict = verdicts.leave_out(item, reason)
        elif ids[item.source_id] in booked:
            verdict = ItemVerdict(item, SwitchVerdict.Known, target_type="refund", target_id=ids[item.source_id])
        elif share is None:
            verdict = verdicts.leave_out(item, LeftOutReason.NegativeWithoutSale)
        else:
            verdict = _book(judging, item, share)
        judged.append(verdict)
    return judged


def _book(judging: Judging, item: Item, share: RefundShare) -> ItemVerdict:
    organization_id, source = judging.switch.organization_id, judging.switch.source
    sale = share.sale
    decision = {
        "act": "refund",
        "conversion_id": sale.target_id,
        "affiliate_id": item.owner_id,
        "program_id": item.owner_program_id,
        "external_event_id": external_event_id(source, item.source_id),
        "status": sale.status,
        "is_locked": sale.is_locked,
        "is_owed_back": judging.options.unpaid == "payable" and item.kind in _NOT_SETTLED,
        "type": "OneTime",
        "currency": item.currency,
        "amount_cents": 0,
        "refunded_cents": share.amount_cents,
        "commission_cents": share.commission_cents,
        "occurred_at": item.occurred_at,
    }
    return ItemVerdict(
        item,
        SwitchVerdict.New,
        decision=decision,
        target_type="refund",
        target_id=refund_id(organization_id, source, item.source_id),
        key=refund_lookups.refund_key(sale.source_id),
    )
