"""Transfers on the lists of rails, each once, with what was made of it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.restores.transfers import RailTransfer, TransferOutcome
from models.db import db
from models.ids import new_id
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class RestoredTransfer:
    """A transfer as it was listed, and what was made of it. `account` is masked."""

    id: UUID
    organization_id: UUID | None
    method: str
    reference: str
    payout_key: str | None
    payout_id: UUID | None
    affiliate_id: UUID | None
    amount_cents: int
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
# The newest state that the rail says; what was made of it before stays until it is matched again.
_LOCK = f"""
insert into restored_transfer (id, organization_id, method, reference, payout_key, payout_id, affiliate_id,
  amount_cents, currency, account, state, made_at, outcome, problem)
values (%(id)s, %(org)s, %(method)s, %(reference)s, %(key)s, %(payout)s, %(affiliate)s, %(cents)s, %(currency)s,
  %(account)s, %(state)s, %(made_at)s, 'Undecided', 'not_compared')
on conflict (method, reference) do update set state = excluded.state
returning {_COLUMNS}
"""


def lock(transfer: RailTransfer, *, organization_id: UUID | None, account: str | None) -> RestoredTransfer:
    """Return the row of a transfer, new or as it was, locked until the transaction ends. `account` is masked."""
    row = _rows.first(
        _LOCK,
        {
            "id": new_id(),
            "org": organization_id,
            "method": transfer.method,
            "reference": transfer.reference,
            "key": transfer.key,
            "payout": transfer.payout_id,
            "affiliate": transfer.affiliate_id,
            "cents": transfer.amount_cents,
            "currency": transfer.currency,
            "account": account,
            "state": transfer.state,
            "made_at": transfer.made_at,
        },
    )
    assert row is not None
    return row


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
    """Stage what was made of a locked transfer; None leaves what is known."""
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


_OPEN = f"select {_COLUMNS} from restored_transfer where outcome = 'Undecided' order by made_at, id limit %s"
_BY_REFERENCE = f"select {_COLUMNS} from restored_transfer where reference = %s order by method for update"


def any_org_open(*, limit: int) -> list[RestoredTransfer]:
    """Return the transfers that wait for an operator, oldest first."""
    return _rows.all(_OPEN, (limit,))


def any_org_lock_by_reference(reference: str) -> list[RestoredTransfer]:
    """Return the transfers that rails call so, locked: one, unless two rails use the same name."""
    return _rows.all(_BY_REFERENCE, (reference,))
