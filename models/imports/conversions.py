"""Conversions of an import: the number of statements does not depend on how many there are."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from domain.conversions.customers import CustomerNames
from domain.statuses import ConversionStatus
from models import conditions
from models.conversions import customers
from models.db import db
from models.imports.imports import ImportJob
from models.ledger import entries
from models.table import Rows, unnest

SOURCE = "import"


@dataclass(frozen=True, slots=True)
class ImportedConversion:
    """A past sale to store. `customer` identifies the customer whose payment it counts as.

    `hold_until` None: the organization's grace days after the sale. `refunded_cents` and `reversed_cents` were refunded
    and taken back before it came here; a status Refunded takes back everything.
    """

    id: UUID
    affiliate_id: UUID
    external_event_id: str
    amount_cents: int
    currency: str
    commission_cents: int
    status: str
    type: str
    payout_locked: bool
    customer_email: str | None
    customer_name: str | None
    customer_avatar_url: str | None
    processor_customer_id: str | None
    processor_subscription_id: str | None
    occurred_at: datetime
    email_normalized: str | None
    self_referral: bool
    needs_approval: bool
    customer: CustomerNames
    hold_until: datetime | None = None
    refunded_cents: int = 0
    reversed_cents: int = 0


class RowAffiliate(NamedTuple):
    """An affiliate named by a row, with the organization's rule for their own purchases (`self_referrals`)."""

    id: UUID
    email_normalized: str
    self_referrals: str


@dataclass(frozen=True, slots=True)
class RowAffiliates:
    """Affiliates of a program by email and by slug."""

    by_email: dict[str, RowAffiliate]
    by_slug: dict[str, RowAffiliate]


class _Name(NamedTuple):
    email: str | None
    slug: str | None
    affiliate: RowAffiliate


_NAMES = Rows(_Name)
_AFFILIATES = """
select a.email, null, a.id, a.email_normalized, o.self_referrals
from affiliate a join organization o on o.id = a.organization_id
where a.organization_id = %(org)s and a.program_id = %(program)s and a.email = any(%(emails)s) and a.deleted_at is null
union all
select null, l.slug, a.id, a.email_normalized, o.self_referrals
from tracking_link l join affiliate a on a.id = l.affiliate_id join organization o on o.id = l.organization_id
where l.organization_id = %(org)s and l.program_id = %(program)s and l.slug = any(%(slugs)s)
  and l.deleted_at is null and a.deleted_at is null
union all
select null, t.token, a.id, a.email_normalized, o.self_referrals
from old_token t join tracking_link l on l.organization_id = t.organization_id and l.id = t.link_id
join affiliate a on a.id = l.affiliate_id join organization o on o.id = l.organization_id
where t.organization_id = %(org)s and l.program_id = %(program)s and t.token = any(%(slugs)s)
  and l.deleted_at is null and a.deleted_at is null
  and not exists (select from tracking_link s where s.organization_id = %(org)s and s.program_id = %(program)s
    and s.slug = t.token and s.deleted_at is null)
"""


def find_affiliates(
    *, organization_id: UUID, program_id: UUID, emails: Sequence[str], slugs: Sequence[str]
) -> RowAffiliates:
    """Return the affiliates of the program with these emails and slugs or old tokens, in any status."""
    rows = _NAMES.all(
        _AFFILIATES, {"org": organization_id, "program": program_id, "emails": list(emails), "slugs": list(slugs)}
    )
    return RowAffiliates(
        by_email={row.email: row.affiliate for row in rows if row.email is not None},
        by_slug={row.slug: row.affiliate for row in rows if row.slug is not None},
    )


_EXISTING = f"""
select external_event_id from conversion
where organization_id = %s and source = '{SOURCE}' and external_event_id = any(%s)
"""


def find_existing(*, organization_id: UUID, external_event_ids: Sequence[str]) -> set[str]:
    """Return which of these external ids were already imported."""
    return {event_id for (event_id,) in db.run(_EXISTING, (organization_id, list(external_event_ids)))}


_COLUMNS = tuple(field.name for field in fields(ImportedConversion) if field.name not in ("customer", "hold_until"))
_SENT = (*_COLUMNS, "hold_until")
_INSERT = f"""
insert into conversion (organization_id, program_id, import_job_id, switch_id, source, attribution_method, rate_source,
  is_test, created_at, hold_until, born_owing_nothing, refunded_at, refunded_from, {", ".join(_COLUMNS)})
select o.id, %s, %s, %s, '{SOURCE}', %s, '{SOURCE}', %s, at.now,
  coalesce(r.hold_until, r.occurred_at + make_interval(days => o.payout_grace_days)),
  r.status in {conditions.EARNS_NOTHING}, case when r.status = 'Refunded' then at.now end,
  case when r.status = 'Refunded' then 'Pending' end, {", ".join(f"r.{name}" for name in _COLUMNS)}
from organization o, (select %s::timestamptz as now) at, {unnest(ImportedConversion, _SENT)} as r ({", ".join(_SENT)})
where o.id = %s
"""

# The following rows are derived from the conversions themselves, so that they cannot differ from them.
_HISTORY = """
insert into conversion_event (id, organization_id, conversion_id, event_type, amount_cents, commission_cents,
  occurred_at)
select gen_random_uuid(), organization_id, id, case type when 'Recurring' then 'renewal' else 'initial' end,
  amount_cents, commission_cents, occurred_at
from conversion where organization_id = %(org)s and id = any(%(ids)s)
"""

_EARNED = f"""
{entries.insert_sql(kind="'earn'", cents="c.commission_cents", cause="c.id", at="c.created_at")}
from conversion c
where c.organization_id = %(org)s and c.id = any(%(ids)s) and not c.payout_locked and c.commission_cents > 0
  and c.status not in {conditions.EARNS_NOTHING}
"""

_REVENUE = """
insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)
select organization_id, affiliate_id, (occurred_at at time zone 'UTC')::date as day, currency,
  sum(amount_cents - refunded_cents)
from conversion where organization_id = %(org)s and id = any(%(ids)s) and not is_test
group by 1, 2, day, 4 order by 2, day, 4
on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = r.net_cents + excluded.net_cents
"""

_REFUNDS = f"""
with refunded as (
  insert into refund (id, organization_id, conversion_id, amount_cents, cumulative_cents, is_full, created_at, place,
    origin)
  select gen_random_uuid(), organization_id, id, refunded_cents, refunded_cents, status = 'Refunded', created_at, 1,
    'brand'
  from conversion
  where organization_id = %(org)s and id = any(%(ids)s) and (refunded_cents > 0 or status = 'Refunded')
  returning id, organization_id, conversion_id
), reversed as (
  insert into reversal (organization_id, refund_id, conversion_id, commission_cents, created_at)
  select c.organization_id, r.id, c.id, c.reversed_cents, c.created_at
  from refunded r join conversion c on c.organization_id = r.organization_id and c.id = r.conversion_id
), history as (
  insert into conversion_event (id, organization_id, conversion_id, event_type, amount_cents, commission_cents,
    occurred_at)
  select r.id, c.organization_id, c.id, 'refund', -c.refunded_cents, -c.reversed_cents, c.created_at
  from refunded r join conversion c on c.organization_id = r.organization_id and c.id = r.conversion_id
)
{entries.insert_sql(kind="'reverse'", cents="-c.reversed_cents", cause="r.id", at="c.created_at")}
from refunded r join conversion c on c.organization_id = r.organization_id and c.id = r.conversion_id
where c.reversed_cents > 0
"""

_COUNT_PAYMENTS = """
select count(*) from unnest(%(id_names)s::text[], %(other_names)s::text[], %(email_names)s::text[], %(inboxes)s::text[],
  %(moments)s::timestamptz[]) with ordinality as paid (id_name, other_name, email_name, inbox, paid_at, place)
cross join lateral count_payment(%(org)s, %(program)s, paid.id_name, paid.other_name, null, paid.email_name, paid.inbox,
  paid.paid_at, %(job)s, null) counted
"""


def stage(
    job: ImportJob,
    rows: Sequence[ImportedConversion],
    *,
    program_id: UUID,
    method: str,
    is_test: bool,
    switch_id: UUID | None = None,
) -> None:
    """Stage conversions of an import or of a switch with their history, refunds, ledger entries and revenue.

    The payments of known customers are counted. Locked rows owe nothing. Customers are locked before revenue, as by a
    gateway's payment, and each in one order, so that concurrent imports wait for each other and never deadlock.
    """
    if not rows:
        return
    columns = ([getattr(row, name) for row in rows] for name in _SENT)
    db.stage(_INSERT, (program_id, job.id, switch_id, method, is_test, job.created_at, *columns, job.organization_id))
    _stage_payments(job, [row for row in rows if row.customer.is_known], program_id=program_id)
    of_rows = {"org": job.organization_id, "ids": [row.id for row in rows]}
    for statement in (_HISTORY, _EARNED, _REVENUE):
        db.stage(statement, of_rows)
    if any(row.refunded_cents or row.status == ConversionStatus.Refunded for row in rows):
        db.stage(_REFUNDS, of_rows)


def _stage_payments(job: ImportJob, rows: Sequence[ImportedConversion], *, program_id: UUID) -> None:
    if not rows:
        return
    names = [name for row in rows for name in (row.customer.id_name, row.customer.email_name)]
    customers.stage_new_names(names, organization_id=job.organization_id, program_id=program_id, at=job.created_at)
    params = {
        "org": job.organization_id,
        "program": program_id,
        "job": job.id,
        "id_names": [row.customer.id_name for row in rows],
        "other_names": [row.customer.other_name for row in rows],
        "email_names": [row.customer.email_name for row in rows],
        "inboxes": [row.customer.inbox for row in rows],
        "moments": [row.occurred_at for row in rows],
    }
    db.stage(_COUNT_PAYMENTS, params)
