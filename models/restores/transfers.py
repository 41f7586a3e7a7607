"""Transfers on the lists of rails, each once, with its outcome."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts import native_sums
from domain.restores.transfers import RailTransfer, TransferOutcome
from models.db import db
from models.ids import new_id
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class RestoredTransfer:
    """A listed transfer with its outcome. `account` is masked."""

    id: UUID
    organization_id: UUID | None
    method: str
    reference: str
    payout_key: str | None
    payout_id: UUID | None
    affiliate_id: UUID | None
    amount_cents: int
    milestone_id: UUID | None
    native: str | None
    currency: str
    account: str | None
    state: str
    made_at: datetime
    outcome: str
    problem: str | None
    booked_payout_id: UUID | None
    decided_because: str | None


_rows = Rows(RestoredTransfer)
_COLUMNS = columns(RestoredTransfer)
# The newest state that the rail reports; everything else stays until it is matched again.
_LOCK = f"""
insert into restored_transfer (id, organization_id, method, reference, payout_key, payout_id, affiliate_id,
  milestone_id, native, amount_cents, currency, account, state, made_at, outcome, problem)
values (%(id)s, %(org)s, %(method)s, %(reference)s, %(key)s, %(payout)s, %(affiliate)s, %(milestone)s, %(native)s,
  %(cents)s, %(currency)s, %(account)s, %(state)s, %(made_at)s, 'Undecided', 'not_compared')
on conflict (method, reference) do update set state = excluded.state
returning {_COLUMNS}
"""
_FACTS = """
update restored_transfer set organization_id = %(org)s, payout_key = %(key)s, payout_id = %(payout)s,
  affiliate_id = %(affiliate)s, milestone_id = %(milestone)s, native = %(native)s, amount_cents = %(cents)s,
  currency = %(currency)s, account = %(account)s, made_at = %(made_at)s
where id = %(id)s
"""


def lock(transfer: RailTransfer, *, organization_id: UUID | None, account: str | None) -> RestoredTransfer:
    """Return the row of a transfer, new or existing, locked until the transaction ends. `account` is masked."""
    params = _facts(transfer, organization_id, account) | {"id": new_id()}
    row = _rows.first(_LOCK, params)
    assert row is not None
    return row


def stage_facts(
    row: RestoredTransfer, transfer: RailTransfer, *, organization_id: UUID | None, account: str | None
) -> None:
    """Stage the values of a newer list for a locked transfer without a booking."""
    db.stage(_FACTS, _facts(transfer, organization_id, account) | {"id": row.id})


def _facts(transfer: RailTransfer, organization_id: UUID | None, account: str | None) -> dict[str, object]:
    return {
        "org": organization_id,
        "method": transfer.method,
        "reference": transfer.reference,
        "key": transfer.key,
        "payout": transfer.payout_id,
        "affiliate": transfer.affiliate_id,
        "milestone": transfer.milestone_id,
        "native": native_sums.to_text(transfer.natives) if transfer.natives else None,
        "cents": transfer.amount_cents,
        "currency": transfer.currency,
        "account": account,
        "state": transfer.state,
        "made_at": transfer.made_at,
    }


_OUTCOME = """
update restored_transfer set outcome = %(outcome)s, problem = %(problem)s,
  affiliate_id = coalesce(%(affiliate)s, affiliate_id), organization_id = coalesce(%(org)s, organization_id),
  booked_payout_id = coalesce(%(booked)s, booked_payout_id), decided_because = coalesce(%(why)s, decided_because),
  changed_at = now()
where id = %(id)s
"""


def stage_outcome(
    row: RestoredTransfer,
    outcome: TransferOutcome,
    *,
    problem: str | None = None,
    organization_id: UUID | None = None,
    affiliate_id: UUID | None = None,
    booked_payout_id: UUID | None = None,
    why: str | None = None,
) -> None:
    """Stage the outcome of a locked transfer; None leaves a column unchanged."""
    db.stage(
        _OUTCOME,
        {
            "outcome": outcome,
            "problem": problem,
            "affiliate": affiliate_id,
            "org": organization_id,
            "booked": booked_payout_id,
            "why": why,
            "id": row.id,
        },
    )


_UNDONE = """
update restored_transfer set outcome = %s, problem = %s, booked_payout_id = null,
  affiliate_id = null, decided_because = %s, changed_at = now()
where id = %s
"""


def stage_undone(row: RestoredTransfer, outcome: TransferOutcome, *, problem: str | None, why: str) -> None:
    """Stage that a locked transfer no longer has a booking."""
    db.stage(_UNDONE, (outcome, problem, why, row.id))


_IN = f"select {_COLUMNS} from restored_transfer where outcome = '{{}}' order by made_at, id limit %s"
_OPEN, _WAITING = _IN.format(TransferOutcome.Undecided), _IN.format(TransferOutcome.Waiting)
_WAITING_FOR = f"""
select {_COLUMNS} from restored_transfer
where organization_id = %s and milestone_id = %s and outcome = 'Waiting' order by made_at, id for update
"""
_BY_REFERENCE = f"select {_COLUMNS} from restored_transfer where reference = %s order by method"


def any_org_list_open(*, limit: int) -> list[RestoredTransfer]:
    """Return the transfers that wait for an operator, oldest first."""
    return _rows.all(_OPEN, (limit,))


def any_org_list_waiting(*, limit: int) -> list[RestoredTransfer]:
    """Return the transfers that wait for their milestones, oldest first."""
    return _rows.all(_WAITING, (limit,))


def lock_waiting(*, organization_id: UUID, milestone_id: UUID) -> list[RestoredTransfer]:
    """Return the transfers that paid a milestone and waited for it to become payable, locked."""
    return _rows.all(_WAITING_FOR, (organization_id, milestone_id))


def any_org_find_by_reference(reference: str, *, is_locked: bool) -> list[RestoredTransfer]:
    """Return the transfers with this reference: one, unless two rails use the same reference."""
    return _rows.all(f"{_BY_REFERENCE} for update" if is_locked else _BY_REFERENCE, (reference,))
