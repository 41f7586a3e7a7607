"""Writes commissions: new conversions, the later state of brought ones, and refunds.

Source: the switch-over rules, "Commissions" and "Known and changed".
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from domain import emails
from domain.conversions import avatars
from domain.conversions.customers import CustomerNames
from domain.statuses import EARNS_NOTHING, ConversionStatus
from domain.switches.decisions import CommissionDecision
from domain.switches.reasons import LeftOutReason, SwitchWarning
from domain.switches.rules import commission_rules
from models import advisory_locks, ids
from models.imports import conversions
from models.imports.conversions import ImportedConversion
from models.imports.imports import ImportJob
from models.switches.judgement import known_records
from models.switches.judgement.known_records import SaleToMatch
from models.switches.written_rows import brought_sales
from models.switches.written_rows.brought_sales import BroughtRefund, BroughtSale
from models.switches.written_rows.written import RowToWrite
from pipelines.payouts import take_back
from pipelines.payouts.take_back import TakenCommission
from pipelines.switches.writing.slices import Slice, WrittenRows, leave_out_deleted

_METHOD = "historical_import"
# Payments of brought customers are counted with the customers.
_NOT_COUNTED = CustomerNames(None, None, None, None, None)
Rows = Sequence[tuple[RowToWrite, CommissionDecision]]


def write(slice_: Slice) -> WrittenRows:
    """Stage a slice: conversions to create and states to change.

    A conversion that a payout names and that was paid there keeps its state, with the warning `paid_twice`. A sale that
    was booked here since it was judged is left out.
    Budget: 8 round trips for any number of rows, and one for each program.
    """
    advisory_locks.stage_shared_payout_run_lock(slice_.organization_id)
    rows = slice_.read(CommissionDecision)
    written = WrittenRows()
    new = [(row, decision) for row, decision in rows if decision.act == "create"]
    _create(slice_, leave_out_deleted(slice_, new, written), written)
    _change(slice_, [(row, decision) for row, decision in rows if decision.act == "change"], written)
    return written


def write_refunds(slice_: Slice) -> WrittenRows:
    """Stage a slice of refunds, each up to what is left of its conversion. Budget: 5 round trips.

    A refund that is owed back of a sale that was paid there makes its conversion count for payouts again.
    """
    advisory_locks.stage_shared_payout_run_lock(slice_.organization_id)
    rows = slice_.read(CommissionDecision)
    written = WrittenRows()
    sales = brought_sales.lock_all(
        organization_id=slice_.organization_id, ids=[decision.conversion_id for _, decision in rows]
    )
    # Those that the former system has settled come first: they are not owed back with the others.
    for is_owed_back in (False, True):
        part = [(row, decision) for row, decision in rows if decision.is_owed_back is is_owed_back]
        sales = _refund_part(slice_, part, sales, written)
    return written


def _refund_part(
    slice_: Slice, rows: Rows, before: dict[UUID, BroughtSale], written: WrittenRows
) -> dict[UUID, BroughtSale]:
    """Stage refunds of which all or none are owed back, and return the sales after them."""
    sales = dict(before)
    refunds = []
    owing_back = set()
    for row, decision in rows:
        sale = sales.get(decision.conversion_id)
        if sale is None:
            written.left_out[row.source_id] = LeftOutReason.NegativeWithoutSale.value
            continue
        refund = _refund(sale, row.target_id, cents=decision.refunded_cents, commission_cents=decision.commission_cents)
        refunds.append(refund)
        was_paid_there = sale.payout_locked and sale.status == ConversionStatus.Paid
        if decision.is_owed_back and was_paid_there and refund.reversal_cents:
            owing_back.add(sale.id)
        sales[sale.id] = _apply_refund(sale, refund)
    brought_sales.stage_opening(sorted(owing_back), **slice_.switch.key, at=slice_.now)
    _book_refunds(slice_, refunds, before)
    return sales


def _create(slice_: Slice, rows: Rows, written: WrittenRows) -> None:
    if not rows:
        return
    tracked = known_records.find_tracked(
        organization_id=slice_.organization_id,
        sales=[_sale_to_match(row.source_id, decision) for row, decision in rows],
        apart_s=commission_rules.SAME_SALE_S,
    )
    existing = conversions.find_existing(
        organization_id=slice_.organization_id, external_event_ids=[decision.external_event_id for _, decision in rows]
    )
    by_program: dict[UUID, list[ImportedConversion]] = defaultdict(list)
    for row, decision in rows:
        if decision.external_event_id in existing:
            written.left_out[row.source_id] = LeftOutReason.IdKnownElsewhere.value
        elif row.source_id in tracked:
            written.left_out[row.source_id] = LeftOutReason.AlreadyTracked.value
        else:
            by_program[decision.program_id].append(_conversion(decision))
    job = ImportJob(
        id=slice_.imports["Conversions"],
        organization_id=slice_.organization_id,
        kind="Conversions",
        total=0,
        imported=0,
        skipped=0,
        errored=0,
        reasons={},
        created_by=slice_.switch.created_by,
        created_at=slice_.now,
    )
    for program_id in sorted(by_program):
        conversions.stage(
            job,
            by_program[program_id],
            program_id=program_id,
            method=f"{_METHOD}:{slice_.switch.source}",
            is_test=False,
            switch_id=slice_.switch.id,
        )


def _sale_to_match(source_id: str, decision: CommissionDecision) -> SaleToMatch:
    email = decision.customer_email
    return SaleToMatch(
        source_id=source_id,
        customer_id=decision.processor_customer_id,
        subscription_id=decision.processor_subscription_id,
        email=emails.normalize(email) if email else None,
        charge_id=decision.charge_id,
        currency=decision.currency,
        amount_cents=decision.amount_cents if decision.sale_cents is None else decision.sale_cents,
        occurred_at=decision.occurred_at,
    )


def _conversion(decision: CommissionDecision) -> ImportedConversion:
    is_refunded = decision.status == ConversionStatus.Refunded
    return ImportedConversion(
        id=decision.conversion_id,
        affiliate_id=decision.affiliate_id,
        external_event_id=decision.external_event_id,
        amount_cents=decision.amount_cents,
        currency=decision.currency,
        commission_cents=decision.commission_cents,
        status=decision.status,
        type=decision.type,
        payout_locked=decision.is_locked,
        customer_email=decision.customer_email,
        customer_name=decision.customer_name,
        customer_avatar_url=avatars.url_from_email(decision.customer_email),
        processor_customer_id=decision.processor_customer_id,
        processor_subscription_id=decision.processor_subscription_id,
        occurred_at=decision.occurred_at,
        email_normalized=emails.normalize(decision.customer_email) if decision.customer_email else None,
        self_referral=False,
        needs_approval=False,
        customer=_NOT_COUNTED,
        hold_until=decision.hold_until,
        refunded_cents=decision.amount_cents if is_refunded else decision.refunded_cents,
        reversed_cents=decision.commission_cents if is_refunded else 0,
    )


def _change(slice_: Slice, rows: Rows, written: WrittenRows) -> None:
    if not rows:
        return
    sales = brought_sales.lock_all(
        organization_id=slice_.organization_id, ids=[decision.conversion_id for _, decision in rows]
    )
    states: dict[UUID, dict[str, Any]] = {}
    refunds = []
    for row, decision in rows:
        sale = sales.get(decision.conversion_id)
        if sale is None:
            written.left_out[row.source_id] = LeftOutReason.IdKnownElsewhere.value
        elif sale.is_in_payout and decision.status == ConversionStatus.Paid:
            written.unchanged.setdefault(SwitchWarning.PaidTwice.value, []).append(row.source_id)
        else:
            state, refund = _choose_change(sale, decision)
            former: dict[str, Any] = {"status": sale.status, "is_locked": sale.payout_locked}
            if state is not None:
                states[sale.id] = state
            if refund is not None:
                refunds.append(refund)
                former |= {
                    "refund_id": str(refund.id),
                    "refunded_cents": refund.amount_cents,
                    "reversed_cents": refund.reversal_cents,
                }
            written.former[row.source_id] = former
    brought_sales.stage_states(states, organization_id=slice_.organization_id, cause_id=slice_.switch.id, at=slice_.now)
    _book_refunds(slice_, refunds, sales)


def _choose_change(
    sale: BroughtSale, decision: CommissionDecision
) -> tuple[dict[str, Any] | None, BroughtRefund | None]:
    """Return the new state of a sale and the refund to book, if any.

    What was paid here, or is in a payout, is refunded instead of denied. A sale that earns nothing has nothing to take
    back: it is locked and refunded like one that is brought as refunded, but denied if a payout names it, because the
    lines of payouts are of conversions that are not locked.
    """
    is_paid_here = sale.was_in_payout or sale.paid_cents > 0
    if decision.status == ConversionStatus.Paid or not (decision.status == ConversionStatus.Refunded or is_paid_here):
        return {"status": decision.status, "is_locked": decision.is_locked}, None
    if sale.status not in EARNS_NOTHING:
        return None, _refund(sale, ids.new_id(), cents=sale.amount_cents, commission_cents=sale.commission_cents)
    if is_paid_here:
        return {"status": ConversionStatus.Denied.value, "is_locked": False}, None
    pending = sale._replace(status=ConversionStatus.Pending.value)
    refund = _refund(pending, ids.new_id(), cents=sale.amount_cents, commission_cents=sale.commission_cents)
    return {"status": sale.status, "is_locked": True}, refund


def _book_refunds(slice_: Slice, refunds: Sequence[BroughtRefund], sales: Mapping[UUID, BroughtSale]) -> None:
    """Stage refunds of locked sales, `sales` as they were before, and take them off the lines of payouts."""
    brought_sales.stage_refunds(refunds, **slice_.switch.key, at=slice_.now)
    taken: Counter[UUID] = Counter()
    for refund in refunds:
        if sales[refund.conversion_id].was_in_payout:
            taken[refund.conversion_id] += refund.reversal_cents
    take_back.take_back_all(
        [
            TakenCommission(sale_id, sales[sale_id].commission_cents - sales[sale_id].reversed_cents, cents)
            for sale_id, cents in taken.items()
            if cents
        ],
        organization_id=slice_.organization_id,
        now=slice_.now,
    )


def _refund(sale: BroughtSale, refund_id: UUID, *, cents: int, commission_cents: int) -> BroughtRefund:
    """Return a refund of at most what is left; one that takes the whole commission refunds the whole sale."""
    is_earning = sale.status not in EARNS_NOTHING
    reversal = min(commission_cents, sale.commission_cents - sale.reversed_cents) if is_earning else 0
    is_full = is_earning and sale.reversed_cents + reversal == sale.commission_cents
    left = sale.amount_cents - sale.refunded_cents
    amount = left if is_full else min(cents, left)
    return BroughtRefund(
        id=refund_id,
        conversion_id=sale.id,
        amount_cents=amount,
        cumulative_cents=sale.refunded_cents + amount,
        reversal_cents=reversal,
        is_full=is_full,
        place=sale.refund_count + 1,
    )


def _apply_refund(sale: BroughtSale, refund: BroughtRefund) -> BroughtSale:
    return sale._replace(
        refunded_cents=refund.cumulative_cents,
        reversed_cents=sale.reversed_cents + refund.reversal_cents,
        refund_count=refund.place,
    )
