"""Deals: a fixed fee that a brand offers an affiliate in milestones, with totals of charges, payouts and returns.

To change a deal or one of its milestones, lock the deal first, before any payout of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.prepared_statements import FreshSelect, Lookup
from models.table import Table


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal. Minor units of its currency; `escrow_cents` is what is held now, a column computed by the database."""

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    title: str
    currency: str
    status: str
    is_test: bool
    charged_cents: int
    take_cents: int
    paid_cents: int
    returned_cents: int
    escrow_cents: int
    created_at: datetime
    offered_at: datetime | None
    answered_at: datetime | None
    funded_at: datetime | None
    ended_at: datetime | None


_TABLE = Table("deal", Deal)
#: Insert a deal.
insert = _TABLE.insert
#: Change columns of a locked deal and return it as it is now.
change = _TABLE.update_locked


def any_org_find_status(deal_id: UUID) -> str | None:
    """Return the status of a deal of any organization; None for an unknown id."""
    row = db.row("select status from deal where id = %s", (deal_id,))
    return row[0] if row else None


_ONE = f"select {_TABLE.columns} from deal where organization_id = %s and id = %s"
_FIND = Lookup(_ONE)
_LOCK = Lookup(f"{_ONE} for no key update")


def find(*, organization_id: UUID, deal_id: UUID) -> Deal | None:
    """Return one deal of the organization, or None."""
    return _TABLE.first(_FIND, (organization_id, deal_id))


def lock(*, organization_id: UUID, deal_id: UUID) -> Deal | None:
    """Return one deal of the organization, locked until the transaction ends, or None."""
    return _TABLE.first(_LOCK, (organization_id, deal_id))


_LOCK_OF_PAYOUTS = FreshSelect("""
select from deal
where organization_id = %(org)s and id = any(array(
  select m.deal_id from payout p
  join deal_milestone m on m.organization_id = p.organization_id and m.id = p.milestone_id
  where p.organization_id = %(org)s and p.id = any(%(payouts)s::uuid[])))
order by id for no key update
""")


def stage_lock_of_payouts(*, organization_id: UUID, payout_ids: Sequence[UUID]) -> None:
    """Stage the lock of the deals that these payouts belong to, by id: before the payouts."""
    db.stage(_LOCK_OF_PAYOUTS, {"org": organization_id, "payouts": list(payout_ids)})


_OF_PERSON = """
select d.organization_id from deal d join affiliate a on a.organization_id = d.organization_id and a.id = d.affiliate_id
where d.id = %(deal)s and d.status <> 'Draft'
  and (a.account_id = %(account)s or (a.account_id is null and a.email = %(email)s))
"""


def any_org_find_organization(*, deal_id: UUID, account_id: UUID | None, email: str | None) -> UUID | None:
    """Return the organization of a deal, if it was offered to the person; `email` is their verified one, or None.

    A deleted affiliate keeps their deals, and may still act on them.
    """
    row = db.row(_OF_PERSON, {"deal": deal_id, "account": account_id, "email": email})
    return row[0] if row else None


_PARTY = """
select a.program_id, a.is_test, a.status, p.archived_at is not null
from affiliate a join program p on p.organization_id = a.organization_id and p.id = a.program_id
where a.organization_id = %s and a.id = %s and a.deleted_at is null
"""


@dataclass(frozen=True, slots=True)
class DealParty:
    """The affiliate of a new deal, with their program."""

    program_id: UUID
    is_test: bool
    status: str
    is_archived: bool


def find_party(*, organization_id: UUID, affiliate_id: UUID) -> DealParty | None:
    """Return an affiliate of the organization, or None."""
    row = db.row(_PARTY, (organization_id, affiliate_id))
    return DealParty(*row) if row else None
