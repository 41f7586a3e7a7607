"""Conversions of an import: the number of statements does not depend on how many there are."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from domain.conversions.customers import CustomerNames
from models import conditions
from models.db import db
from models.imports.imports import ImportJob
from models.ledger import entries
from models.table import Rows, unnest

SOURCE = "import"


@dataclass(frozen=True, slots=True)
class ImportedConversion:
    """A past sale to store. `customer` identifies the customer whose payment it counts as."""

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
"""


def find_affiliates(
    *, organization_id: UUID, program_id: UUID, emails: Sequence[str], slugs: Sequence[str]
) -> RowAffiliates:
    """Return the affiliates of the program with these emails and slugs, in any status."""
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


_COLUMNS = tuple(field.name for field in fields(ImportedConversion) if field.name != "customer")
_INSERT = f"""
insert into conversion (organization_id, program_id, import_job_id, source, attribution_method, rate_source, is_test,
  created_at, hold_until, born_owing_nothing, {", ".join(_COLUMNS)})
select o.id, %s, %s, '{SOURCE}', %s, '{SOURCE}', %s, %s, r.occurred_at + make_interval(days => o.payout_grace_days),
  r.status in {conditions.EARNS_NOTHING}, r.*
from organization o, {unnest(ImportedConversion, _COLUMNS)} as r ({", ".join(_COLUMNS)})
where o.id = %s
"""

# The following rows are derived from the conversions themselves, so that they cannot differ from them.
_HISTORY = """
insert into conversion_event (id, organization_id, conversion_id, event_type, amount_cents, commission_cents,
  occurred_at)
select gen_random_uuid(), organization_id, id, case type when 'Recurring' then 'renewal' else 'initial' end,
  amount_cents, commission_cents, occurred_at
from conversion where organization_id = %s and import_job_id = %s
"""

_EARNED = f"""
{entries.insert_sql(kind="'earn'", cents="c.commission_cents", cause="c.id", at="c.created_at")}
from conversion c
where c.organization_id = %s and c.import_job_id = %s and not c.payout_locked and c.commission_cents > 0
  and c.status not in {conditions.EARNS_NOTHING}
"""

_REVENUE = """
insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)
select organization_id, affiliate_id, (occurred_at at time zone 'UTC')::date as day, currency, sum(amount_cents)
from conversion where organization_id = %s and import_job_id = %s and not is_test
group by 1, 2, day, 4 order by 2, day, 4
on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = r.net_cents + excluded.net_cents
"""

# All names first, in one order, so that two imports that count the same customers never deadlock. Locked by a separate
# statement, which sees the rows that others inserted meanwhile.
_NOTE_CUSTOMERS = """
insert into program_customer (organization_id, program_id, customer_key, first_paid_at, payments)
select %(org)s, %(program)s, name, %(at)s, 0
from (select distinct unnest(%(id_names)s::text[] || %(email_names)s::text[]) as name) named
where name is not null order by name collate "C"
on conflict do nothing
"""
_LOCK_CUSTOMERS = """
select from program_customer
where organization_id = %(org)s and program_id = %(program)s
  and customer_key = any(%(id_names)s::text[] || %(email_names)s::text[])
order by customer_key collate "C" for update
"""
_COUNT_PAYMENTS = """
select count(*) from unnest(%(id_names)s::text[], %(other_names)s::text[], %(email_names)s::text[], %(inboxes)s::text[],
  %(moments)s::timestamptz[]) with ordinality as paid (id_name, other_name, email_name, inbox, paid_at, place)
cross join lateral count_payment(%(org)s, %(program)s, paid.id_name, paid.other_name, null, paid.email_name, paid.inbox,
  paid.paid_at, %(job)s, null) counted
"""


def stage(job: ImportJob, rows: Sequence[ImportedConversion], *, program_id: UUID, method: str, is_test: bool) -> None:
    """Stage an import's conversions with their history, ledger entries, revenue and customers' payments.

    Locked rows owe nothing. Customers are locked before revenue, as by a gateway's payment, and each in one order, so
    that concurrent imports wait for each other and never deadlock.
    """
    if not rows:
        return
    columns = ([getattr(row, name) for row in rows] for name in _COLUMNS)
    db.stage(_INSERT, (program_id, job.id, method, is_test, job.created_at, *columns, job.organization_id))
    payments = [row for row in rows if row.customer.is_known]
    if payments:
        params = {
            "org": job.organization_id,
            "program": program_id,
            "job": job.id,
            "at": job.created_at,
            "id_names": [row.customer.id_name for row in payments],
            "other_names": [row.customer.other_name for row in payments],
            "email_names": [row.customer.email_name for row in payments],
            "inboxes": [row.customer.inbox for row in payments],
            "moments": [row.occurred_at for row in payments],
        }
        for statement in (_NOTE_CUSTOMERS, _LOCK_CUSTOMERS, _COUNT_PAYMENTS):
            db.stage(statement, params)
    for statement in (_HISTORY, _EARNED, _REVENUE):
        db.stage(statement, (job.organization_id, job.id))
