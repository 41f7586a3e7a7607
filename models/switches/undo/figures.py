"""What an undo of a switch would keep now, and the commission that it would take back. Locks nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.db import db
from models.switches.undo.obstacles import (
    BROUGHT_LINKS,
    CUSTOMER_COLUMNS,
    IS_PAYER,
    IS_REDEEMED,
    IS_REFUND_HERE,
    IS_USED,
    LATER,
)
from models.table import Rows


@dataclass(frozen=True, slots=True)
class UndoScope:
    """A switch with the two imports of its run, which began at `since`.

    Without `has_changed` it changed no commission that was here, without `has_payable` it owes none: both save time.
    """

    organization_id: UUID
    switch_id: UUID
    affiliates_job_id: UUID
    conversions_job_id: UUID
    since: datetime
    has_changed: bool
    has_payable: bool


class KeptCount(NamedTuple):
    """Records of a collection that are kept for a reason. Of the collection `taken_back`: cents by currency."""

    collection: str
    reason: str
    number: int


_ROWS = Rows(KeptCount)
_OF_ITEMS = "i.organization_id = %(org)s and i.switch_id = %(switch)s and i.is_written"
_FIGURES = f"""
with brought as materialized (
  select {CUSTOMER_COLUMNS} from switch_item i
  join brought_customer b on b.organization_id = i.organization_id and b.id = i.target_id
  where {_OF_ITEMS} and i.collection = 'customers'
), {LATER}, {BROUGHT_LINKS}, obstacle (id, affiliate_id, place, reason) as (
  select c.id, c.affiliate_id, 1, 'in_payout' from payout_line l
  join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id
  where l.organization_id = %(org)s and c.import_job_id = %(conversions)s
  union all
  select c.id, c.affiliate_id, 2, 'refunded' from refund r
  join conversion c on c.organization_id = r.organization_id and c.id = r.conversion_id
  where r.organization_id = %(org)s and c.import_job_id = %(conversions)s and {IS_REFUND_HERE}
  union all
  select c.id, c.affiliate_id, 3, 'override' from conversion o
  join conversion c on c.organization_id = o.organization_id and c.id = o.parent_id
  where o.organization_id = %(org)s and o.parent_id is not null and c.import_job_id = %(conversions)s
  union all
  select c.id, c.affiliate_id, 4, 'later_payment' from later b
  join conversion c on c.organization_id = %(org)s and c.program_id = b.program_id and {IS_PAYER}
  where c.import_job_id = %(conversions)s
), kept_conversion as materialized (
  select distinct on (id) id, affiliate_id, reason from obstacle order by id, place
), kept_affiliate as materialized (
  select a.id, case when a.id in (select affiliate_id from later) then 'later_payment' else 'in_use' end as reason
  from affiliate a
  where a.organization_id = %(org)s and a.import_job_id = %(affiliates)s and a.deleted_at is null
    and (a.id in (select affiliate_id from later) or a.id in (select affiliate_id from kept_conversion)
      or exists (select from conversion c where c.organization_id = a.organization_id and c.affiliate_id = a.id
        and c.created_at > %(since)s and c.import_job_id is distinct from %(conversions)s)
      or exists (select from brought_customer b where b.organization_id = a.organization_id and b.affiliate_id = a.id
        and b.switch_id <> %(switch)s)
      or {IS_USED})
)
select 'customers', 'later_payment', count(*) from later
union all
select 'commissions', reason, count(*) from kept_conversion group by 2
union all
select 'commissions', k.reason, count(*) from switch_item i
join refund r on r.organization_id = i.organization_id and r.id = i.target_id
join kept_conversion k on k.id = r.conversion_id
where {_OF_ITEMS} and i.target_type = 'refund' group by 2
union all
select 'commissions', 'in_payout', count(*) from switch_item i
where %(has_changed)s and {_OF_ITEMS} and i.collection = 'commissions' and i.verdict = 'changed' and exists (
  select from payout_line l where l.organization_id = i.organization_id and l.conversion_id = i.target_id)
union all
select 'affiliates', reason, count(*) from kept_affiliate group by 2
union all
select i.collection, coalesce(a.reason, 'in_use'), count(*) from switch_item i
left join kept_affiliate a on a.id = (i.decision ->> 'affiliate_id')::uuid
where {_OF_ITEMS} and (i.collection = 'links' and a.id is not null or i.collection = 'codes' and (a.id is not null
  or exists (select from affiliate_coupon k where k.organization_id = i.organization_id and k.id = i.target_id
    and {IS_REDEEMED})))
group by 1, 2
union all
select 'taken_back', c.currency, sum(l.amount_cents)::bigint from conversion c
join ledger_entry l on l.organization_id = c.organization_id and l.conversion_id = c.id
where %(has_payable)s and c.organization_id = %(org)s and c.import_job_id = %(conversions)s and not c.payout_locked
  and c.id not in (select id from kept_conversion)
group by 2 having sum(l.amount_cents) <> 0
"""


def list_kept(scope: UndoScope) -> list[KeptCount]:
    """Return how many records an undo would keep now, and what it would take back, by currency. 1 statement."""
    params = {
        "org": scope.organization_id,
        "switch": scope.switch_id,
        "affiliates": scope.affiliates_job_id,
        "conversions": scope.conversions_job_id,
        "since": scope.since,
        "has_changed": scope.has_changed,
        "has_payable": scope.has_payable,
    }
    return _ROWS.all(_FIGURES, params)


_WRITTEN = "select collection, written from switch_collection where organization_id = %s and switch_id = %s"


def count_written(*, organization_id: UUID, switch_id: UUID) -> Mapping[str, int]:
    """Return how many rows of each collection a switch has written."""
    return dict(db.run(_WRITTEN, (organization_id, switch_id)))


_STARTED = "select min(created_at) from import_job where organization_id = %s and switch_id = %s"


def find_run_start(*, organization_id: UUID, switch_id: UUID) -> datetime:
    """Return when the run of a switch began, which has two imports."""
    row = db.row(_STARTED, (organization_id, switch_id))
    assert row is not None
    began_at: datetime = row[0]
    return began_at
