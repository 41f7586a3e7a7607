"""What undo takes back of a switch besides conversions: affiliates, links, codes, later states and refunds.

Each function stages a constant number of statements for any number of records.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models.db import Json, db
from models.ledger import entries
from models.table import Rows

_LOCK_AFFILIATES = """
select from affiliate where organization_id = %(org)s and id = any(%(ids)s) and deleted_at is null
order by id for no key update
"""
_REMOVE_AFFILIATES = (
    """
delete from old_token t using tracking_link l
where l.organization_id = %(org)s and l.affiliate_id = any(%(ids)s)
  and t.organization_id = l.organization_id and t.link_id = l.id
""",
    "update tracking_link set deleted_at = %(at)s where organization_id = %(org)s and affiliate_id = any(%(ids)s)"
    " and deleted_at is null",
    "delete from affiliate_coupon where organization_id = %(org)s and affiliate_id = any(%(ids)s)",
    "update affiliate set deleted_at = %(at)s where organization_id = %(org)s and id = any(%(ids)s)"
    " and deleted_at is null",
)


def stage_affiliate_locks(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> None:
    """Stage the locks of affiliates until the transaction ends."""
    db.stage(_LOCK_AFFILIATES, {"org": organization_id, "ids": list(affiliate_ids)})


def stage_affiliates(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> None:
    """Stage the deletion of unused affiliates with their links, old tokens and codes."""
    if affiliate_ids:
        for statement in _REMOVE_AFFILIATES:
            db.stage(statement, {"org": organization_id, "ids": list(affiliate_ids), "at": at})


_KEPT_OWNERS = """
select id from affiliate
where organization_id = %s and id = any(%s::uuid[]) and import_job_id = %s and deleted_at is null
"""


def find_kept_affiliates(*, organization_id: UUID, affiliate_ids: Sequence[UUID], job_id: UUID) -> set[UUID]:
    """Return which of these affiliates came with the import and still exist."""
    return {row[0] for row in db.run(_KEPT_OWNERS, (organization_id, list(affiliate_ids), job_id))}


_RETIRE = """
update tracking_link set deleted_at = %s
where organization_id = %s and id = any(%s::uuid[]) and deleted_at is null and not is_default
"""
_DELETE_CODES = "delete from affiliate_coupon where organization_id = %s and id = any(%s::uuid[])"


def stage_links(*, organization_id: UUID, link_ids: Sequence[UUID], at: datetime) -> None:
    """Stage the deletion of links other than default links. The caller deletes their old tokens."""
    if link_ids:
        db.stage(_RETIRE, (at, organization_id, list(link_ids)))


def stage_codes(*, organization_id: UUID, code_ids: Sequence[UUID]) -> None:
    """Stage the deletion of codes that no buyer has redeemed."""
    if code_ids:
        db.stage(_DELETE_CODES, (organization_id, list(code_ids)))


class RefundedSale(NamedTuple):
    """A locked conversion of a refund. `has_later`: another refund came after it; `is_in_payout`: a payout names it."""

    refund_id: UUID
    conversion_id: UUID
    switch_id: UUID | None
    has_later: bool
    is_in_payout: bool


_REFUNDED_ROWS = Rows(RefundedSale)
_LOCK_REFUNDED = """
select from conversion where organization_id = %(org)s and id in
  (select conversion_id from refund where organization_id = %(org)s and id = any(%(ids)s::uuid[]))
order by id for no key update
"""
# The refunds of one switch on one conversion are taken back from the last one; later ones of the same switch don't keep
# an earlier one.
_REFUNDED = """
select r.id, c.id, c.switch_id,
  exists (select from refund o where o.organization_id = r.organization_id and o.conversion_id = r.conversion_id
    and o.place > r.place and o.id <> all(%(ids)s::uuid[]) and not exists (
      select from switch_item i where i.organization_id = o.organization_id and i.switch_id = %(switch)s
        and i.target_type = 'refund' and i.target_id = o.id)),
  exists (select from payout_line l where l.organization_id = c.organization_id and l.conversion_id = c.id)
from refund r join conversion c on c.organization_id = r.organization_id and c.id = r.conversion_id
where r.organization_id = %(org)s and r.id = any(%(ids)s::uuid[])
"""


def lock_refunded(*, organization_id: UUID, switch_id: UUID, refund_ids: Sequence[UUID]) -> list[RefundedSale]:
    """Return the conversions of refunds, locked until the transaction ends; refunds that are gone are left out.

    `advisory_locks.stage_shared_payout_run_lock` comes first.
    """
    params = {"org": organization_id, "switch": switch_id, "ids": list(refund_ids)}
    db.stage(_LOCK_REFUNDED, params)
    return _REFUNDED_ROWS.all(_REFUNDED, params)


_CAUSE = "md5(%(cause)s || r.id::text)::uuid"
# The totals of refunds that were booked after a refund sink with it.
_TAKE_BACK = (
    f"""
{entries.insert_sql(kind="'restore'", cents="v.commission_cents", cause=_CAUSE, at="%(at)s")}
from refund r join conversion c on c.organization_id = r.organization_id and c.id = r.conversion_id
join reversal v on v.organization_id = r.organization_id and v.refund_id = r.id and v.conversion_id = c.id
where r.organization_id = %(org)s and r.id = any(%(ids)s::uuid[]) and v.commission_cents > 0
""",
    """
insert into affiliate_revenue as a (organization_id, affiliate_id, day, currency, net_cents)
select c.organization_id, c.affiliate_id, (c.occurred_at at time zone 'UTC')::date as day, c.currency,
  sum(r.amount_cents)
from refund r join conversion c on c.organization_id = r.organization_id and c.id = r.conversion_id
where r.organization_id = %(org)s and r.id = any(%(ids)s::uuid[]) and not c.is_test
group by 1, 2, day, 4 order by 2, day, 4
on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = a.net_cents + excluded.net_cents
""",
    """
update conversion c set refunded_cents = c.refunded_cents - t.amount, reversed_cents = c.reversed_cents - t.reversal,
  status = case when t.is_full then coalesce(c.refunded_from, c.status) else c.status end,
  refunded_from = case when t.is_full then null else c.refunded_from end,
  refunded_at = case when t.is_full then null else c.refunded_at end
from (
  select r.conversion_id, sum(r.amount_cents) as amount, sum(coalesce(v.commission_cents, 0)) as reversal,
    bool_or(r.is_full) as is_full
  from refund r left join reversal v on v.organization_id = r.organization_id and v.refund_id = r.id
    and v.conversion_id = r.conversion_id
  where r.organization_id = %(org)s and r.id = any(%(ids)s::uuid[]) group by 1
) t
where c.organization_id = %(org)s and c.id = t.conversion_id
""",
    """
update refund o set cumulative_cents = o.cumulative_cents - (
  select sum(r.amount_cents) from refund r
  where r.organization_id = %(org)s and r.id = any(%(ids)s::uuid[]) and r.conversion_id = o.conversion_id
    and r.place < o.place)
where o.organization_id = %(org)s and o.id <> all(%(ids)s::uuid[]) and exists (
  select from refund r where r.organization_id = %(org)s and r.id = any(%(ids)s::uuid[])
    and r.conversion_id = o.conversion_id and r.place < o.place)
""",
    "delete from conversion_event where organization_id = %(org)s and id = any(%(ids)s::uuid[])",
    "delete from reversal where organization_id = %(org)s and refund_id = any(%(ids)s::uuid[])",
    "delete from refund where organization_id = %(org)s and id = any(%(ids)s::uuid[])",
)


def stage_take_back(refund_ids: Sequence[UUID], *, organization_id: UUID, cause_id: UUID, at: datetime) -> None:
    """Stage that refunds of locked conversions never were: totals, status, revenue, history and ledger.

    The ledger gets opposite entries; their cause is derived from `cause_id` and the refund.
    """
    if refund_ids:
        params = {"org": organization_id, "ids": list(refund_ids), "cause": str(cause_id), "at": at}
        for statement in _TAKE_BACK:
            db.stage(statement, params)


# The ledger gets back the commission that the change took from it, if it took any.
_RESTORE_STATES = (
    f"""
{entries.insert_sql(kind="'adjust'", cents="-booked.cents", cause="%(cause)s", at="%(at)s")}
from conversion c
cross join lateral (select sum(l.amount_cents) as cents from ledger_entry l where l.organization_id = c.organization_id
  and l.conversion_id = c.id and l.cause_id = %(switch)s and l.kind = 'adjust') booked
where c.organization_id = %(org)s and c.id = any(%(ids)s::uuid[]) and booked.cents <> 0
""",
    """
update conversion c set status = s.value ->> 'status', payout_locked = (s.value ->> 'is_locked')::boolean
from jsonb_each(%(states)s) s
where c.organization_id = %(org)s and c.id = s.key::uuid
""",
)


def stage_states(
    states: Mapping[UUID, Mapping[str, Any]], *, organization_id: UUID, switch_id: UUID, cause_id: UUID, at: datetime
) -> None:
    """Stage the former states of locked conversions, with opposite entries for what the switch booked of them."""
    if states:
        values = {str(key): dict(value) for key, value in states.items()}
        params = {
            "org": organization_id,
            "switch": switch_id,
            "ids": list(states),
            "states": Json(values),
            "cause": cause_id,
            "at": at,
        }
        for statement in _RESTORE_STATES:
            db.stage(statement, params)


class ChangedSale(NamedTuple):
    """A conversion that the switch changed, locked."""

    id: UUID
    status: str
    payout_locked: bool
    is_in_payout: bool


_CHANGED_ROWS = Rows(ChangedSale)
_CHANGED = """
select c.id, c.status, c.payout_locked,
  exists (select from payout_line l where l.organization_id = c.organization_id and l.conversion_id = c.id)
from conversion c where c.organization_id = %s and c.id = any(%s::uuid[])
"""
_LOCK_CHANGED = """
select from conversion where organization_id = %s and id = any(%s::uuid[]) order by id for no key update
"""


def lock_changed(*, organization_id: UUID, conversion_ids: Sequence[UUID]) -> dict[UUID, ChangedSale]:
    """Return conversions by id, locked until the transaction ends; those that are gone are left out."""
    db.stage(_LOCK_CHANGED, (organization_id, list(conversion_ids)))
    rows = _CHANGED_ROWS.all(_CHANGED, (organization_id, list(conversion_ids)))
    return {row.id: row for row in rows}
