"""Takes conversions of a switch back; those that were here before get their former state."""

from uuid import UUID

from domain.statuses import EARNS_NOTHING
from domain.switches.decisions import CommissionDecision
from models import advisory_locks
from models.imports import removal
from models.switches.undo import obstacles, removals
from models.switches.undo.slices import RowToUndo
from pipelines.switches.removing.slices import UndoSlice

_NO_ID = str(UUID(int=0))


def remove_refunds(slice_: UndoSlice) -> list[str]:
    """Stage a slice of refunds of conversions from before the switch, and return the source ids of those that go.

    Refunds of conversions that the switch brought go with these. A refund stays if another one was booked after it, or
    a payout names the conversion. Budget: 1 round trip.
    """
    advisory_locks.stage_shared_payout_run_lock(slice_.organization_id)
    gone = _removable_refunds(slice_, [row.target_id for row in slice_.rows])
    _take_back(slice_, gone)
    return [row.source_id for row in slice_.rows if row.target_id in gone]


def remove(slice_: UndoSlice) -> list[str]:
    """Stage a slice of conversions and changes, and return the source ids of the rows that go. Budget: 5 round trips.

    Conversions are kept that a payout names, that were refunded here or earned an override, and those of a customer
    who is kept.
    """
    advisory_locks.stage_shared_payout_run_lock(slice_.organization_id)
    rows = slice_.read(CommissionDecision)
    created = [(row, decision.conversion_id) for row, decision in rows if decision.act == "create"]
    changed = [(row, decision) for row, decision in rows if decision.act == "change"]
    return [*_remove_created(slice_, created), *_restore_changed(slice_, changed)]


def _remove_created(slice_: UndoSlice, rows: list[tuple[RowToUndo, UUID]]) -> list[str]:
    if not rows:
        return []
    ids = [conversion_id for _, conversion_id in rows]
    reasons = obstacles.lock_conversions(**slice_.switch.key, conversion_ids=ids)
    protected = {conversion_id for conversion_id, reason in reasons.items() if reason is not None}
    protected |= obstacles.find_conversions_of_later(
        **slice_.switch.key,
        conversion_ids=[conversion_id for conversion_id in reasons if conversion_id not in protected],
        since=slice_.since,
    )
    removal.stage(
        organization_id=slice_.organization_id,
        ids=[conversion_id for conversion_id in reasons if conversion_id not in protected],
        cause_id=slice_.imports["Conversions"],
        at=slice_.now,
        with_refunds=True,
    )
    return [row.source_id for row, conversion_id in rows if conversion_id not in protected]


def _restore_changed(slice_: UndoSlice, rows: list[tuple[RowToUndo, CommissionDecision]]) -> list[str]:
    """Stage the former states. A conversion that a payout names, or that people changed since, stays as it is.

    So does one that was paid there if a refund of it was owed back: it stays Paid, and owes nothing.
    """
    if not rows:
        return []
    by_refund = {UUID(row.former["refund_id"]): row for row, _ in rows if row.former and "refund_id" in row.former}
    refunds = _removable_refunds(slice_, list(by_refund)) if by_refund else set()
    _take_back(slice_, refunds)
    unlocked = {
        decision.conversion_id: row.former
        for row, decision in rows
        if row.former and row.former["status"] in EARNS_NOTHING and UUID(row.former.get("refund_id", _NO_ID)) in refunds
    }
    by_state = [(row, decision) for row, decision in rows if row.former and "refund_id" not in row.former]
    sales = removals.lock_changed(
        organization_id=slice_.organization_id, conversion_ids=[decision.conversion_id for _, decision in by_state]
    )
    restored = [
        (row, decision)
        for row, decision in by_state
        if (sale := sales.get(decision.conversion_id)) is not None
        and not sale.is_in_payout
        and (sale.status, sale.payout_locked) == (decision.status, decision.is_locked)
    ]
    removals.stage_states(
        unlocked | {decision.conversion_id: row.former for row, decision in restored if row.former},
        **slice_.switch.key,
        cause_id=slice_.imports["Conversions"],
        at=slice_.now,
    )
    return [
        *(row.source_id for row, _ in restored),
        *(row.source_id for refund_id, row in by_refund.items() if refund_id in refunds),
    ]


def _removable_refunds(slice_: UndoSlice, refund_ids: list[UUID]) -> set[UUID]:
    return {
        sale.refund_id
        for sale in removals.lock_refunded(**slice_.switch.key, refund_ids=refund_ids)
        if sale.switch_id != slice_.switch.id and not sale.has_later and not sale.is_in_payout
    }


def _take_back(slice_: UndoSlice, refund_ids: set[UUID]) -> None:
    removals.stage_take_back(
        sorted(refund_ids),
        organization_id=slice_.organization_id,
        cause_id=slice_.imports["Conversions"],
        at=slice_.now,
    )
