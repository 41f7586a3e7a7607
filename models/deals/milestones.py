"""Milestones of deals. To change one, lock its deal first."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class Milestone:
    """A milestone. Minor units of the deal's currency; `seq` counts from 1.

    `take_cents` is None until the brand is charged; `to_affiliate_cents` is the operator's decision, None before.
    """

    id: UUID
    organization_id: UUID
    deal_id: UUID
    seq: int
    title: str
    amount_cents: int
    take_cents: int | None
    due_at: datetime | None
    status: str
    submission_urls: tuple[str, ...]
    auto_release_at: datetime | None
    changes_requested: int
    change_note: str | None
    opened_by: str | None
    dispute_reason: str | None
    proposed_resolution: str | None
    disputed_at: datetime | None
    to_affiliate_cents: int | None
    settled_at: datetime | None
    paid_cents: int
    returned_cents: int


_TABLE = Table("deal_milestone", Milestone)
#: Stage the milestones of a new deal.
stage_all = _TABLE.stage_inserts
#: Change columns of a milestone whose deal is locked and return it as it is now.
change = _TABLE.update_locked
_OF_DEAL = PreparedStatement(
    f"select {_TABLE.columns} from deal_milestone where organization_id = %s and deal_id = %s order by seq"
)
_BY_SEQ = Lookup(
    f"select {_TABLE.columns} from deal_milestone where organization_id = %s and deal_id = %s and seq = %s"
)
_BY_ID = Lookup(f"select {_TABLE.columns} from deal_milestone where organization_id = %s and id = %s")


def list_of_deal(*, organization_id: UUID, deal_id: UUID) -> list[Milestone]:
    """Return a deal's milestones in order."""
    return _TABLE.all(_OF_DEAL, (organization_id, deal_id))


def find_by_seq(*, organization_id: UUID, deal_id: UUID, seq: int) -> Milestone | None:
    """Return a deal's milestone by its number, or None."""
    return _TABLE.first(_BY_SEQ, (organization_id, deal_id, seq))


def find(*, organization_id: UUID, milestone_id: UUID) -> Milestone | None:
    """Return a milestone of the organization, or None."""
    return _TABLE.first(_BY_ID, (organization_id, milestone_id))


_TAKE = "update deal_milestone set take_cents = %s where organization_id = %s and id = %s"


def stage_take(milestone: Milestone, cents: int) -> None:
    """Stage the platform's take on top of a milestone."""
    db.stage(_TAKE, (cents, milestone.organization_id, milestone.id))


@dataclass(frozen=True, slots=True)
class MilestoneKey:
    """The ids of a milestone, its organization and its deal."""

    id: UUID
    organization_id: UUID
    deal_id: UUID


_KEYS = Rows(MilestoneKey)
_KEY = f"select {columns(MilestoneKey)} from deal_milestone where id = %s"
_DUE = f"""
select {columns(MilestoneKey, "m")} from deal_milestone m
where m.id > %(after)s and (
    (m.status = 'Submitted' and m.auto_release_at <= %(now)s)
    or (m.status = 'Settled' and m.to_affiliate_cents > m.paid_cents))
  and not exists (select from payout p where p.organization_id = m.organization_id and p.milestone_id = m.id
    and p.voided_at is null)
order by m.id limit %(limit)s
"""


def any_org_find_key(milestone_id: UUID) -> MilestoneKey | None:
    """Return the ids of a milestone, for an operator who knows only its own id."""
    return _KEYS.first(_KEY, (milestone_id,))


def any_org_list_due(*, after: UUID, now: datetime, limit: int) -> list[MilestoneKey]:
    """Return the next milestones due for automatic release that no payout pays yet, by id."""
    return _KEYS.all(_DUE, {"after": after, "now": now, "limit": limit})
