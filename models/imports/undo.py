"""Undoes an import: the number of statements does not depend on its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.db import db
from models.imports import removal
from models.table import Rows

# Locked before they are read, by id: a transaction that waits for one finds it deleted.
_LOCK = "select from conversion where organization_id = %s and import_job_id = %s order by id for update"

_COUNT_BLOCKED = """
select count(*) filter (where c.refunded_cents > 0 or exists
    (select from refund r where r.organization_id = c.organization_id and r.conversion_id = c.id)),
  count(*) filter (where exists
    (select from conversion o where o.organization_id = c.organization_id and o.parent_id = c.id)),
  count(*) filter (where c.status = 'Paid' and not c.payout_locked or exists
    (select from ledger_entry l where l.organization_id = c.organization_id and l.conversion_id = c.id
     and l.kind in ('pay', 'clawback')) or exists
    (select from payout_line l where l.organization_id = c.organization_id and l.conversion_id = c.id)),
  coalesce(array_agg(c.id), '{}')
from conversion c where c.organization_id = %s and c.import_job_id = %s
"""

_INBOXES = """
select distinct program_id, concat(case when is_test then 'test-' end, 'email:', email_normalized) as customer_key
from conversion where organization_id = %(org)s and import_job_id = %(job)s and email_normalized is not null
union
select program_id, concat(case when is_test then 'test-' end, 'subscription:', processor_subscription_id)
from conversion where organization_id = %(org)s and import_job_id = %(job)s and processor_subscription_id is not null
  and processor_customer_id is null and email_normalized is null
"""

# Locked first: a payment that is counted concurrently is then among those that remain. In the order in which they are
# counted, the inboxes before the ids.
_LOCK_CUSTOMERS = f"""
select from program_customer c
where c.organization_id = %(org)s and (c.program_id, c.customer_key) in (
  select program_id, customer_key from import_customer where organization_id = %(org)s and import_job_id = %(job)s
  union {_INBOXES}
)
order by c.customer_key collate "C" for update
"""

# With the inboxes and subscriptions that lead to them: only this import created those.
_CUSTOMERS_GONE = f"""
with inbox as ({_INBOXES}), gone as (
  delete from program_customer c using import_customer i
  where i.organization_id = %(org)s and i.import_job_id = %(job)s and c.organization_id = i.organization_id
    and c.program_id = i.program_id and c.customer_key = i.customer_key and c.payments = i.payments
  returning c.*
)
delete from program_customer c using inbox, gone
where c.organization_id = %(org)s and c.program_id = inbox.program_id and c.customer_key = inbox.customer_key
  and gone.program_id = c.program_id and gone.customer_key = c.joined_to
"""

_CUSTOMERS_LEFT = """
update program_customer c set payments = c.payments - i.payments, first_paid_at = coalesce(least(
  c.first_sold_at,
  (select min(o.first_paid_at) from import_customer o where o.organization_id = i.organization_id
   and o.program_id = i.program_id and o.customer_key = i.customer_key and o.import_job_id <> i.import_job_id)
), c.first_paid_at)
from import_customer i
where i.organization_id = %(org)s and i.import_job_id = %(job)s and c.organization_id = i.organization_id
  and c.program_id = i.program_id and c.customer_key = i.customer_key
"""

_FORGET_CUSTOMERS = "delete from import_customer where organization_id = %(org)s and import_job_id = %(job)s"


class LockedConversions(NamedTuple):
    """The conversions of an import, and how many of them block the undoing, by reason.

    `refunded`: it has a refund. `overridden`: a recruiter earned an override. `paid`: a payout contains it.
    Reasons without any are left out.
    """

    ids: Sequence[UUID]
    blocking: dict[str, int]


def lock_conversions(*, organization_id: UUID, job_id: UUID) -> LockedConversions:
    """Lock an import's conversions until the transaction ends, and return them."""
    db.stage(_LOCK, (organization_id, job_id))
    counts, ids = _count_blocked(organization_id, job_id)
    return LockedConversions(ids, {reason: count for reason, count in counts.items() if count})


def count_blocked(*, organization_id: UUID, job_id: UUID) -> dict[str, int]:
    """Return how many conversions block the undoing, by reason as `lock_conversions`, without locks."""
    return _count_blocked(organization_id, job_id)[0]


def _count_blocked(organization_id: UUID, job_id: UUID) -> tuple[dict[str, int], Sequence[UUID]]:
    row = db.row(_COUNT_BLOCKED, (organization_id, job_id))
    assert row is not None
    *counts, ids = row
    return dict(zip(("refunded", "overridden", "paid"), counts, strict=True)), ids


@dataclass(frozen=True, slots=True)
class OwedCommission:
    """The commission owed in one currency, in minor units, and the number of its conversions."""

    currency: str
    commission_cents: int
    count: int


_OWED_ROWS = Rows(OwedCommission)
_OWED = """
select c.currency, sum(booked.cents)::bigint, count(*)
from conversion c
cross join lateral (select sum(l.amount_cents) as cents from ledger_entry l
  where l.organization_id = c.organization_id and l.conversion_id = c.id) booked
where c.organization_id = %s and c.import_job_id = %s and booked.cents <> 0
group by c.currency order by c.currency
"""


def sum_owed(*, organization_id: UUID, job_id: UUID) -> list[OwedCommission]:
    """Return what the ledger owes for an import's conversions, by currency: the undoing reverses it."""
    return _OWED_ROWS.all(_OWED, (organization_id, job_id))


def stage_removal(*, organization_id: UUID, job_id: UUID, ids: Sequence[UUID], at: datetime) -> None:
    """Stage the removal of an import's locked conversions and derived rows; the ledger gets opposite entries."""
    for statement in (_LOCK_CUSTOMERS, _CUSTOMERS_GONE, _CUSTOMERS_LEFT, _FORGET_CUSTOMERS):
        db.stage(statement, {"org": organization_id, "job": job_id})
    removal.stage(organization_id=organization_id, ids=ids, cause_id=job_id, at=at)


_UNUSED = """
select a.id from affiliate a
where a.organization_id = %(org)s and a.import_job_id = %(job)s and a.deleted_at is null and a.account_id is null
  and not exists (select from conversion c where c.organization_id = a.organization_id and c.affiliate_id = a.id)
  and not exists (select from click k where k.organization_id = a.organization_id and k.affiliate_id = a.id)
  and not exists (select from click_hour k
    where k.organization_id = a.organization_id and k.program_id = a.program_id and k.affiliate_id = a.id)
  and not exists
    (select from affiliate r where r.organization_id = a.organization_id and r.recruited_by_affiliate_id = a.id)
"""


def list_unused_affiliates(*, organization_id: UUID, job_id: UUID) -> list[UUID]:
    """Return an import's unused affiliates: no conversion, no click, no recruit, and never signed in."""
    return [affiliate_id for (affiliate_id,) in db.run(_UNUSED, {"org": organization_id, "job": job_id})]


_COUNT_AFFILIATES = """
select count(*) from affiliate where organization_id = %s and import_job_id = %s and deleted_at is null
"""


def count_affiliates(*, organization_id: UUID, job_id: UUID) -> int:
    """Return how many undeleted affiliates of an import exist."""
    row = db.row(_COUNT_AFFILIATES, (organization_id, job_id))
    assert row is not None
    return int(row[0])
