"""Accepted sales: the table that deduplicates retries, and the data that settling a sale needs."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from domain import jobs, leads
from domain.conversions.customers import CustomerNames
from models.affiliates import slug_links
from models.conditions import OPEN_PROGRAM, PAYS_ON_SALE, SALE_RANK, SELLING_PROGRAM
from models.conversions import customers, sale_terms
from models.conversions.sale_terms import SaleTerms
from models.db import db
from models.jobs import rows
from models.prepared_statements import FreshSelect, Lookup, PreparedStatement
from models.table import Rows, columns, row_values


@dataclass(frozen=True, slots=True)
class SaleReferral:
    """The id of an already accepted sale, and the affiliate and program of the slug; None for an unknown one."""

    known_sale_id: UUID | None
    affiliate_id: UUID | None
    affiliate_status: str | None
    program_id: UUID | None
    is_program_open: bool | None
    commission_model: str | None
    has_sale_leg: bool | None


_REFERRALS = Rows(SaleReferral)
_LINKS = slug_links.matches_sql(organization="%(organization_id)s")
# Joined by primary keys alone: composite foreign keys keep the rows in one organization, and with the organization
# in the join a planner without statistics would scan all of a tenant's affiliates.
_REFERRAL = f"""
  select a.id as affiliate_id, a.status as affiliate_status, p.id as program_id, now_open.yes as is_program_open,
    p.default_commission_model as commission_model, p.sale_commission_type is not null as has_sale_leg
  from {_LINKS} l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  join program p on p.id = l.program_id
  cross join lateral (select {OPEN_PROGRAM} as yes) now_open
  order by l.place, {SALE_RANK}, l.created_at limit 1
"""
_LOOK_UP = Lookup(
    f"""
select (select id from sale where organization_id = %(organization_id)s and external_event_id = %(event)s), referral.*
from (select) one left join lateral ({_REFERRAL}) referral on true
""",
    null_columns=2,
)


def look_up(*, organization_id: UUID, external_event_id: str, slug: str, tokens: Sequence[str]) -> SaleReferral:
    """Return the sale with this event id, if it was accepted, and what the slug leads to, in one statement.

    A slug may have links in several campaigns of one organization: the first by `SALE_RANK` counts, then the oldest.
    Without a link with the slug, `tokens` may be old tokens.
    """
    params = {"organization_id": organization_id, "event": external_event_id, "slug": slug, "tokens": list(tokens)}
    referral = _REFERRALS.first(_LOOK_UP, params)
    assert referral is not None
    return referral


@dataclass(frozen=True, slots=True)
class Sale:
    """A posted sale; `id` is reserved for its conversion."""

    id: UUID
    organization_id: UUID
    external_event_id: str
    amount_cents: int
    currency: str
    customer_id: str | None
    customer_name: str | None
    customer_email: str | None
    email_normalized: str | None
    customer_avatar_url: str | None
    sub_id: str | None
    is_test: bool
    accepted_at: datetime


_NAMES = tuple(field.name for field in fields(Sale))
_NAMED = ", ".join(f"%({name})s" for name in _NAMES)
_SETTLE = rows.kind_columns(jobs.SALE_SETTLE)
# A sale with a customer has the ordinal 0 until the next statement counts its payment.
_ACCEPT = PreparedStatement(f"""
with found as ({_REFERRAL}), accepted as (
  insert into sale ({columns(Sale)}, customer_ordinal, program_id, affiliate_id)
  select {_NAMED}, %(ordinal)s, program_id, affiliate_id from found
  where affiliate_status = 'Approved' and is_program_open and (commission_model in {PAYS_ON_SALE} or has_sale_leg)
  on conflict (organization_id, external_event_id) do nothing
  returning id, organization_id
)
insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)
select organization_id, %(queue)s, %(name)s, jsonb_build_object('sale_id', id), organization_id::text, %(max_attempts)s,
  %(lease_s)s
from accepted
returning 1
""")
# The count stays locked until the transaction ends, so payments are numbered in order of acceptance.
_COUNT_PAYMENT = PreparedStatement(f"""
update sale set (customer_key, customer_ordinal) = (
  select c.name, c.payments
  from count_payment(sale.organization_id, sale.program_id, {customers.NAMES}, sale.accepted_at, null, null) c
)
where organization_id = %(organization_id)s and id = %(id)s and customer_ordinal = 0
returning 1
""")


def accept(sale: Sale, customer: CustomerNames, *, slug: str, tokens: Sequence[str]) -> bool:
    """Insert a sale for the affiliate of its slug or old token, count its customer's payment and insert its job.

    False: nothing was written, because the organization already has a sale with this external event id, or no
    affiliate of the slug can earn by it; `look_up` tells which. A repeated sale writes nothing either.
    Budget: 1 round trip, and none for the commit in a unit of work with `is_single`.
    """
    sale_params = dict(zip(_NAMES, row_values(sale), strict=True))
    accept_params = {
        **sale_params,
        **_SETTLE,
        "slug": slug,
        "tokens": list(tokens),
        "ordinal": 0 if customer.is_known else 1,
    }
    if not customer.is_known:
        return bool(db.run_single(_ACCEPT, accept_params))
    db.stage(_ACCEPT, accept_params)
    return bool(db.run_single(_COUNT_PAYMENT, sale_params | customers.name_params(customer)))


@dataclass(frozen=True, slots=True)
class LeadOfBuyer:
    """A lead with the email of a sale's buyer. `occurred_at` is aware UTC."""

    id: UUID
    affiliate_id: UUID
    sub_id: str | None
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class SaleFacts:
    """All data that settling a sale depends on. Rates are Decimal, money minor units, times aware UTC."""

    sale_id: UUID
    organization_id: UUID
    external_event_id: str
    program_id: UUID
    affiliate_id: UUID
    amount_cents: int
    currency: str
    customer_id: str | None
    customer_name: str | None
    customer_email: str | None
    customer_avatar_url: str | None
    sub_id: str | None
    is_test: bool
    accepted_at: datetime
    customer_ordinal: int
    first_paid_at: datetime
    terms: SaleTerms
    lead: LeadOfBuyer | None = None


_FACTS_ROWS = Rows(SaleFacts)
_COLUMNS = columns(
    SaleFacts,
    "s",
    sale_id="s.id",
    first_paid_at="coalesce(c.first_paid_at, s.accepted_at)",
    terms=sale_terms.COLUMNS,
    lead=columns(LeadOfBuyer, "lead"),
)
# However many leads a person has, only the newest are read, in the order of their index: with another order a plan
# made while the table was empty would read all of a tenant's leads. A lead of a campaign that does not pay for
# sales is also the lead of its account's other affiliates.
_LEADS = f"""
  select l.id, case when is_own.yes then s.affiliate_id else l.affiliate_id end as affiliate_id, l.sub_id,
    l.occurred_at
  from (
    select id, affiliate_id, sub_id, occurred_at from lead
    where organization_id = s.organization_id and email_normalized = s.email_normalized and is_test = s.is_test
      and state <> 'Invalidated'
      and occurred_at > s.accepted_at - interval '{leads.WINDOW.days} days' and occurred_at <= s.accepted_at
    order by occurred_at desc, id desc limit {leads.MAX_MATCHED}
  ) l
  join affiliate named on named.id = l.affiliate_id
  join program p on p.id = named.program_id
  cross join lateral (select named.id = a.id
    or not {SELLING_PROGRAM} and (named.account_id = a.account_id or named.email = a.email) is true as yes) is_own
  order by is_own.yes desc, l.occurred_at desc, l.id desc limit 1
"""
# Among several leads the affiliate's own comes first, then the newest.
_FACTS = FreshSelect(f"""
select {_COLUMNS}
from sale s
join affiliate a on a.id = s.affiliate_id
{sale_terms.JOINS}
left join program_customer n on n.organization_id = s.organization_id and n.program_id = s.program_id
  and n.customer_key = s.customer_key
left join program_customer c on c.organization_id = s.organization_id and c.program_id = s.program_id
  and c.customer_key = coalesce(n.joined_to, n.customer_key)
left join lateral ({_LEADS}) lead on true
where s.organization_id = %s and s.id = any(%s) and s.settled_at is null
order by s.id
for update of s
""")


def lock_unsettled(*, organization_id: UUID, sale_ids: Sequence[UUID]) -> list[SaleFacts]:
    """Lock those of these sales that have no conversion yet, by id, and return their facts."""
    return _FACTS_ROWS.all(_FACTS, (organization_id, list(sale_ids)))


_SETTLED = PreparedStatement("update sale set settled_at = %s where organization_id = %s and id = any(%s)")


def stage_settled(*, organization_id: UUID, sale_ids: Sequence[UUID], settled_at: datetime) -> None:
    """Stage that sales have their conversions."""
    db.stage(_SETTLED, (settled_at, organization_id, list(sale_ids)))


_UNSETTLED = "select from sale where organization_id = %s and id = %s and settled_at is null"


def is_unsettled(*, organization_id: UUID, sale_id: UUID) -> bool:
    """Return whether this is the id of a sale that has no conversion yet."""
    return bool(db.run(_UNSETTLED, (organization_id, sale_id)))


# Two selects and not one `or`: each condition has an index.
_UNSETTLED_OF = """
select id from sale where organization_id = %(org)s and id = %(id)s and settled_at is null
union all
select id from sale where organization_id = %(org)s and external_event_id = %(event)s and settled_at is null
"""


def find_unsettled(*, organization_id: UUID, sale_id: UUID | None, external_event_id: str | None) -> UUID | None:
    """Return the sale with this id, or else with this external event id, that has no conversion yet."""
    row = db.row(_UNSETTLED_OF, {"org": organization_id, "id": sale_id, "event": external_event_id})
    return row[0] if row else None
