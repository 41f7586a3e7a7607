"""Moves escrow: ledger entries, milestone and the deal's totals change in one transaction.

The caller holds the deal's lock. The database accepts each kind of entry once per milestone and no negative escrow, so
a repeated movement fails as a whole.
"""

from datetime import datetime
from uuid import UUID

from domain.deals.states import EscrowKind
from models.db import db
from models.deals.deals import Deal
from models.ids import new_id

_ENTRY = """
insert into ledger_entry (id, organization_id, program_id, affiliate_id, milestone_id, kind, amount_cents, currency,
  cause_id, is_test, created_at)"""
_BOOK_FUNDED = f"""{_ENTRY}
select gen_random_uuid(), d.organization_id, d.program_id, d.affiliate_id, m.id, moved.kind, moved.cents, d.currency,
  %(cause)s, d.is_test, %(at)s
from deal d join deal_milestone m on m.organization_id = d.organization_id and m.deal_id = d.id
cross join lateral (values ('escrow_in', m.amount_cents + m.take_cents), ('take', -m.take_cents)) moved (kind, cents)
where d.organization_id = %(org)s and d.id = %(deal)s and moved.cents <> 0
"""
_FUND_MILESTONES = """
update deal_milestone set status = 'Funded'
where organization_id = %(org)s and deal_id = %(deal)s and status = 'Pending'
"""
_FUND_DEAL = """
update deal d set status = 'Funded', funded_at = %(at)s, charged_cents = m.amount + m.take, take_cents = m.take
from (select sum(amount_cents)::bigint as amount, sum(take_cents)::bigint as take from deal_milestone
  where organization_id = %(org)s and deal_id = %(deal)s) m
where d.organization_id = %(org)s and d.id = %(deal)s
"""


def stage_funding(deal: Deal, *, cause_id: UUID, at: datetime) -> None:
    """Stage that a deal's charge was paid, with the platform's take of every milestone."""
    params = {"org": deal.organization_id, "deal": deal.id, "cause": cause_id, "at": at}
    for statement in (_BOOK_FUNDED, _FUND_MILESTONES, _FUND_DEAL):
        db.stage(statement, params)


_BOOK_ONE = f"""{_ENTRY}
values (%(id)s, %(org)s, %(program)s, %(affiliate)s, %(milestone)s, %(kind)s, -%(cents)s, %(currency)s, %(cause)s,
  %(is_test)s, %(at)s)
"""
_PAY_MILESTONE = """
update deal_milestone set paid_cents = paid_cents + %(cents)s, auto_release_at = null,
  status = case status when 'Submitted' then 'Released' else status end
where organization_id = %(org)s and id = %(milestone)s
"""
_RETURN_MILESTONE = """
update deal_milestone set returned_cents = returned_cents + %(cents)s
where organization_id = %(org)s and id = %(milestone)s
"""
_MOVE_DEAL = """
update deal set {column} = {column} + %(cents)s,
  status = case when escrow_cents = %(cents)s then 'Completed' else status end,
  ended_at = case when escrow_cents = %(cents)s then %(at)s else ended_at end
where organization_id = %(org)s and id = %(deal)s
returning status
"""


def pay_out(deal: Deal, *, milestone_id: UUID, cents: int, payout_id: UUID, at: datetime) -> str:
    """Book that a payout paid a milestone's affiliate, and return the deal's new status."""
    params = _params(deal, milestone_id=milestone_id, cents=cents, cause_id=payout_id, at=at)
    db.stage(_BOOK_ONE, params | {"kind": EscrowKind.escrow_out})
    db.stage(_PAY_MILESTONE, params)
    return _run_for_status(_MOVE_DEAL.format(column="paid_cents"), params)


def give_back(deal: Deal, *, milestone_id: UUID, cents: int, request_id: UUID, at: datetime) -> str:
    """Book that a part of a milestone was returned to the brand, and return the deal's new status."""
    params = _params(deal, milestone_id=milestone_id, cents=cents, cause_id=request_id, at=at)
    db.stage(_BOOK_ONE, params | {"kind": EscrowKind.escrow_back})
    db.stage(_RETURN_MILESTONE, params)
    return _run_for_status(_MOVE_DEAL.format(column="returned_cents"), params)


def _run_for_status(statement: str, params: dict[str, object]) -> str:
    ((status,),) = db.run(statement, params)
    return str(status)


def _params(deal: Deal, *, milestone_id: UUID, cents: int, cause_id: UUID, at: datetime) -> dict[str, object]:
    return {
        "id": new_id(),
        "org": deal.organization_id,
        "deal": deal.id,
        "program": deal.program_id,
        "affiliate": deal.affiliate_id,
        "currency": deal.currency,
        "is_test": deal.is_test,
        "milestone": milestone_id,
        "cents": cents,
        "cause": cause_id,
        "at": at,
    }
