"""Changes of conversions that a switch brought before: their later state, and refunds. One statement for all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models import conditions
from models.db import Json, db
from models.ledger import entries
from models.table import Rows, columns, unnest


class BroughtSale(NamedTuple):
    """A conversion as it is here, locked. `is_in_payout`: a payout that is not voided names it.

    `was_in_payout`: also one that was voided.
    """

    id: UUID
    affiliate_id: UUID
    currency: str
    occurred_at: datetime
    amount_cents: int
    commission_cents: int
    refunded_cents: int
    reversed_cents: int
    status: str
    payout_locked: bool
    refund_count: int
    paid_cents: int
    is_in_payout: bool
    was_in_payout: bool


_ROWS = Rows(BroughtSale)
_LOCK = "select from conversion where organization_id = %s and id = any(%s) order by id for no key update"
_REFUND_COUNT = """(select coalesce(max(r.place), 0) from refund r
  where r.organization_id = c.organization_id and r.conversion_id = c.id)"""
_IN_PAYOUT = """exists (select from payout_line l
  join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
  where l.organization_id = c.organization_id and l.conversion_id = c.id and l.released_at is null
    and p.voided_at is null)"""
_WAS_IN_PAYOUT = """exists (select from payout_line l
  where l.organization_id = c.organization_id and l.conversion_id = c.id)"""
_DERIVED = {"refund_count": _REFUND_COUNT, "is_in_payout": _IN_PAYOUT, "was_in_payout": _WAS_IN_PAYOUT}
_FIND = f"""
select {columns(BroughtSale, "c", **_DERIVED)}
from conversion c where c.organization_id = %s and c.id = any(%s) order by c.id
"""


def lock_all(*, organization_id: UUID, ids: Sequence[UUID]) -> dict[UUID, BroughtSale]:
    """Return conversions by id, locked until the transaction ends; unknown ids are left out.

    `advisory_locks.stage_shared_payout_run_lock` comes first.
    """
    db.stage(_LOCK, (organization_id, list(ids)))
    return {row.id: row for row in _ROWS.all(_FIND, (organization_id, list(ids)))}


@dataclass(frozen=True, slots=True)
class BroughtRefund:
    """A refund to insert, with the running totals of its conversion after it."""

    id: UUID
    conversion_id: UUID
    amount_cents: int
    cumulative_cents: int
    reversal_cents: int
    is_full: bool
    place: int


_REFUND_COLUMNS = ("id", "conversion_id", "amount_cents", "cumulative_cents", "reversal_cents", "is_full", "place")
_REFUNDS = f"""
with sent as (
  select * from {unnest(BroughtRefund, _REFUND_COLUMNS)} as s ({", ".join(_REFUND_COLUMNS)})
), refunded as (
  insert into refund (id, organization_id, conversion_id, amount_cents, cumulative_cents, is_full, created_at, place,
    origin)
  select id, %s, conversion_id, amount_cents, cumulative_cents, is_full, %s, place, 'brand' from sent
), reversed as (
  insert into reversal (organization_id, refund_id, conversion_id, commission_cents, created_at)
  select %s, id, conversion_id, reversal_cents, %s from sent
), history as (
  insert into conversion_event (id, organization_id, conversion_id, event_type, amount_cents, commission_cents,
    occurred_at)
  select id, %s, conversion_id, 'refund', -amount_cents, -reversal_cents, %s from sent
), revenue as (
  insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)
  select c.organization_id, c.affiliate_id, (c.occurred_at at time zone 'UTC')::date as day, c.currency,
    -sum(s.amount_cents)
  from sent s join conversion c on c.organization_id = %s and c.id = s.conversion_id
  where not c.is_test group by 1, 2, day, 4 order by 2, day, 4
  on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = r.net_cents + excluded.net_cents
), totals as (
  update conversion c set refunded_cents = c.refunded_cents + t.amount, reversed_cents = c.reversed_cents + t.reversal,
    refunded_from = case when t.is_full and c.status <> 'Refunded' then c.status else c.refunded_from end,
    refunded_at = case when t.is_full then coalesce(c.refunded_at, %s) else c.refunded_at end,
    status = case when t.is_full then 'Refunded' else c.status end
  from (select conversion_id, sum(amount_cents) as amount, sum(reversal_cents) as reversal, bool_or(is_full) as is_full
    from sent group by 1) t
  where c.organization_id = %s and c.id = t.conversion_id
)
{entries.insert_sql(kind="'reverse'", cents="-s.reversal_cents", cause="md5(%s || s.id::text)::uuid", at="%s")}
from sent s join conversion c on c.organization_id = %s and c.id = s.conversion_id
where s.reversal_cents > 0
"""


def stage_refunds(refunds: Sequence[BroughtRefund], *, organization_id: UUID, switch_id: UUID, at: datetime) -> None:
    """Stage refunds of locked conversions with their effect on totals, history, revenue and ledger.

    A refund that was undone has the same id when another switch brings it again. The ledger still has the entries of
    the first time, so the cause of an entry is derived from the switch and the refund.
    """
    if refunds:
        arrays = [[getattr(refund, name) for refund in refunds] for name in _REFUND_COLUMNS]
        org = organization_id
        db.stage(_REFUNDS, (*arrays, org, at, org, at, org, at, org, at, org, str(switch_id), at, org))


_PAID_THERE = "c.reversed_cents - c.commission_cents"
# A sale that was owed here until the former system paid it has earned already.
_HAS_EARNED = """exists (select from ledger_entry e
  where e.organization_id = c.organization_id and e.conversion_id = c.id and e.kind = 'earn')"""
_AGAIN = "c.commission_cents - c.reversed_cents - booked.cents"
# One statement may not change a row twice, so the refunds follow in another one.
_OPEN = (
    f"""
{entries.insert_sql(kind="'adjust'", cents=_AGAIN, cause="md5('open ' || %(switch)s)::uuid", at="%(at)s")}
from conversion c
cross join lateral (select sum(l.amount_cents) as cents from ledger_entry l
  where l.organization_id = c.organization_id and l.conversion_id = c.id
    and l.kind in ('earn', 'reverse', 'restore', 'adjust')) booked
where c.organization_id = %(org)s and c.id = any(%(ids)s) and {_HAS_EARNED} and {_AGAIN} <> 0
""",
    f"""
{entries.insert_sql(kind="'earn'", cents="c.commission_cents", cause="%(switch)s", at="%(at)s")}
from conversion c where c.organization_id = %(org)s and c.id = any(%(ids)s) and not {_HAS_EARNED}
""",
    f"""
{entries.insert_sql(kind="'paid_before'", cents=_PAID_THERE, cause="%(switch)s", at="%(at)s")}
from conversion c where c.organization_id = %(org)s and c.id = any(%(ids)s)
""",
    """
update conversion c set payout_locked = false, paid_cents = c.commission_cents - c.reversed_cents
where c.organization_id = %(org)s and c.id = any(%(ids)s)
""",
)


def stage_opening(ids: Sequence[UUID], *, organization_id: UUID, switch_id: UUID, at: datetime) -> None:
    """Stage that these Paid conversions, locked until now, were paid what they earn: a refund is then owed back.

    The next payout run nets it, as for a conversion that was paid here.
    """
    if ids:
        for statement in _OPEN:
            db.stage(statement, {"org": organization_id, "ids": list(ids), "switch": switch_id, "at": at})


_STATES = f"""
with sent as (
  select key::uuid as id, value ->> 'status' as status, (value ->> 'is_locked')::boolean as is_locked
  from jsonb_each(%(states)s)
), changed as (
  update conversion c set status = s.status, payout_locked = s.is_locked
  from sent s where c.organization_id = %(org)s and c.id = s.id
)
{entries.insert_sql(kind="'adjust'", cents="-booked.cents", cause="%(cause)s", at="%(at)s")}
from sent s join conversion c on c.organization_id = %(org)s and c.id = s.id
cross join lateral (select sum(l.amount_cents) as cents from ledger_entry l
  where l.organization_id = c.organization_id and l.conversion_id = c.id
    and l.kind in ('earn', 'reverse', 'restore', 'adjust')) booked
where not c.payout_locked and (s.is_locked or s.status in {conditions.EARNS_NOTHING}) and booked.cents <> 0
"""


def stage_states(
    states: Mapping[UUID, Mapping[str, Any]], *, organization_id: UUID, cause_id: UUID, at: datetime
) -> None:
    """Stage the status and lock of locked conversions: what the ledger owes for one that is owed no more is taken back.

    `cause_id` is the switch.
    """
    if states:
        values = {str(key): dict(value) for key, value in states.items()}
        db.stage(_STATES, {"states": Json(values), "org": organization_id, "cause": cause_id, "at": at})
