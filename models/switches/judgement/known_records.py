"""Records of the brand that rows of a switch may already be: each function is one statement for any number of rows."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from models import conditions
from models.db import db
from models.table import Rows

#: The source of brought conversions, as of imported ones.
CONVERSION_SOURCE = "import"


class KnownAffiliate(NamedTuple):
    """An affiliate of a program by email, with the default link."""

    program_id: UUID
    email: str
    id: UUID
    link_id: UUID | None


_AFFILIATES = Rows(KnownAffiliate)
_FIND_AFFILIATES = """
select a.program_id, a.email, a.id, l.id
from affiliate a
left join tracking_link l on l.organization_id = a.organization_id and l.affiliate_id = a.id and l.is_default
  and l.deleted_at is null
where a.organization_id = %s and a.program_id = any(%s) and a.email = any(%s) and a.deleted_at is null
"""


def find_affiliates(
    *, organization_id: UUID, program_ids: Sequence[UUID], emails: Sequence[str]
) -> dict[tuple[UUID, str], KnownAffiliate]:
    """Return the affiliates of these programs with these emails, by program and email."""
    rows = _AFFILIATES.all(_FIND_AFFILIATES, (organization_id, list(program_ids), list(emails)))
    return {(row.program_id, row.email): row for row in rows}


class KnownLink(NamedTuple):
    """An undeleted link, or an old token of one (`is_old`), whose text a row has; `email` is the affiliate's."""

    text: str
    link_id: UUID
    program_id: UUID
    email: str
    is_old: bool


_LINKS = Rows(KnownLink)
_FIND_LINKS = """
select l.slug, l.id, l.program_id, a.email, false
from tracking_link l join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where l.organization_id = %(org)s and l.slug = any(%(texts)s) and l.deleted_at is null
union all
select t.token, l.id, l.program_id, a.email, true
from old_token t
join tracking_link l on l.organization_id = t.organization_id and l.id = t.link_id and l.deleted_at is null
join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
where t.organization_id = %(org)s and t.token = any(%(texts)s)
"""


def find_links(*, organization_id: UUID, texts: Sequence[str]) -> dict[str, list[KnownLink]]:
    """Return the links whose slug or old token is among these texts (lower case), by text."""
    links: dict[str, list[KnownLink]] = {}
    for row in _LINKS.all(_FIND_LINKS, {"org": organization_id, "texts": list(texts)}):
        links.setdefault(row.text, []).append(row)
    return links


class KnownCode(NamedTuple):
    """A coupon code that is not revoked."""

    code: str
    id: UUID
    affiliate_id: UUID


_CODES = Rows(KnownCode)
_FIND_CODES = """
select code, id, affiliate_id from affiliate_coupon
where organization_id = %s and code = any(%s) and status <> 'Revoked'
"""


def find_codes(*, organization_id: UUID, codes: Sequence[str]) -> dict[str, KnownCode]:
    """Return the coupon codes of the organization among these, by code."""
    return {row.code: row for row in _CODES.all(_FIND_CODES, (organization_id, list(codes)))}


class KnownConversion(NamedTuple):
    """A conversion that an earlier switch brought. `payout_id` is of a payout that names it.

    `net_cents` is what it earns now, `paid_cents` what was paid of it. `was_in_payout`: also one that was voided.
    """

    external_event_id: str
    id: UUID
    program_id: UUID
    affiliate_id: UUID
    status: str
    payout_locked: bool
    net_cents: int
    paid_cents: int
    payout_id: UUID | None
    was_in_payout: bool


_CONVERSIONS = Rows(KnownConversion)
_FIND_CONVERSIONS = f"""
select c.external_event_id, c.id, c.program_id, c.affiliate_id, c.status, c.payout_locked,
  {conditions.earned_cents("c")}, c.paid_cents,
  (select l.payout_id from payout_line l
    join payout p on p.organization_id = l.organization_id and p.id = l.payout_id and p.voided_at is null
    where l.organization_id = c.organization_id and l.conversion_id = c.id and l.released_at is null limit 1),
  exists (select from payout_line l where l.organization_id = c.organization_id and l.conversion_id = c.id)
from conversion c
where c.organization_id = %s and c.source = %s and c.external_event_id = any(%s)
"""


def find_conversions(*, organization_id: UUID, external_event_ids: Sequence[str]) -> dict[str, KnownConversion]:
    """Return the brought conversions with these external ids, by external id."""
    params = (organization_id, CONVERSION_SOURCE, list(external_event_ids))
    return {row.external_event_id: row for row in _CONVERSIONS.all(_FIND_CONVERSIONS, params)}


def find_refunds(*, organization_id: UUID, refund_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these refunds exist."""
    sql = "select id from refund where organization_id = %s and id = any(%s)"
    return {refund_id for (refund_id,) in db.run(sql, (organization_id, list(refund_ids)))}


class SaleToMatch(NamedTuple):
    """A sale of the former system, by the names of its customer; `email` is normalized."""

    source_id: str
    customer_id: str | None
    subscription_id: str | None
    email: str | None
    charge_id: str | None
    currency: str
    amount_cents: int
    occurred_at: datetime


# Signed sales and payments of gateways have their customers in tables of their own. A payment's amount here is that of
# its conversion, after tax; without a conversion it is the paid one. What was only a test earns nothing here.
_SALES = """
  select s.customer_id, null::text, s.email_normalized, s.external_event_id, s.currency, array[s.amount_cents],
    s.accepted_at
  from sale s where s.organization_id = %(org)s and not s.is_test and """
_PAYMENTS = """
  select p.customer_id, p.subscription_id, p.email_normalized, p.external_id, p.currency,
    array[c.amount_cents, p.paid_cents], p.paid_at
  from gateway_payment p
  left join conversion c on c.organization_id = p.organization_id and c.id = p.conversion_id
  where p.organization_id = %(org)s and not p.is_test and p.gateway = any(array(
    select distinct gateway from gateway_connection where organization_id = %(org)s)) and """
_MANUAL = """
  select c.processor_customer_id, null, c.email_normalized, null, c.currency, array[c.amount_cents], c.occurred_at
  from conversion c where c.organization_id = %(org)s and c.source = 'manual' and not c.is_test and """
_BOOKED = " union ".join(
    (
        f"{_SALES} s.customer_id = any(%(customer_ids)s)",
        f"{_SALES} s.email_normalized = any(%(emails)s)",
        f"{_SALES} s.external_event_id = any(%(charges)s)",
        f"{_PAYMENTS} p.customer_id = any(%(customer_ids)s)",
        f"{_PAYMENTS} p.subscription_id = any(%(subscriptions)s)",
        f"{_PAYMENTS} p.email_normalized = any(%(emails)s)",
        f"{_PAYMENTS} p.external_id = any(%(charges)s)",
        f"{_MANUAL} c.processor_customer_id = any(%(customer_ids)s)",
        f"{_MANUAL} c.email_normalized = any(%(emails)s)",
    )
)
_IS_SAME = "b.currency = w.currency and w.amount_cents = any(b.amounts) and b.at between w.earliest and w.latest"
# The rows to compare are fetched by lists of names first: row by row, and without statistics, the planner may take an
# index of all conversions for each.
_TRACKED = f"""
with wanted as (
  select w.*, w.at - %(apart)s::interval as earliest, w.at + %(apart)s::interval as latest
  from unnest(%(source_ids)s::text[], %(customer_ids)s::text[], %(subscriptions)s::text[], %(emails)s::text[],
    %(charges)s::text[], %(currencies)s::text[], %(amounts)s::bigint[], %(times)s::timestamptz[])
    as w (source_id, customer_id, subscription_id, email, charge_id, currency, amount_cents, at)
), booked (customer_id, subscription_id, email, charge_id, currency, amounts, at) as materialized ({_BOOKED})
select w.source_id from wanted w join booked b on b.customer_id = w.customer_id and {_IS_SAME}
union
select w.source_id from wanted w join booked b on b.subscription_id = w.subscription_id and {_IS_SAME}
union
select w.source_id from wanted w join booked b on b.email = w.email and {_IS_SAME}
union
select w.source_id from wanted w join booked b on b.charge_id = w.charge_id
"""


def find_tracked(*, organization_id: UUID, sales: Sequence[SaleToMatch], apart_s: int) -> set[str]:
    """Return the source ids of sales that are booked here by anything but an import or a switch.

    The same sale has the same customer or subscription, currency and amount at most `apart_s` seconds apart, or the
    same charge id. Test sales don't count.
    """
    params = {
        "org": organization_id,
        "apart": f"{apart_s} seconds",
        "source_ids": [sale.source_id for sale in sales],
        "customer_ids": [sale.customer_id for sale in sales],
        "subscriptions": [sale.subscription_id for sale in sales],
        "emails": [sale.email for sale in sales],
        "charges": [sale.charge_id for sale in sales],
        "currencies": [sale.currency for sale in sales],
        "amounts": [sale.amount_cents for sale in sales],
        "times": [sale.occurred_at for sale in sales],
    }
    return {source_id for (source_id,) in db.run(_TRACKED, params)}


class MappedProgram(NamedTuple):
    """A program that campaigns of the source lead to, with the terms to compare."""

    id: UUID
    name: str
    referral_destination_url: str | None
    commission_model: str
    commission_type: str
    commission_value: Decimal
    commission_currency: str | None
    cookie_window_days: int
    recurring_months: int | None
    min_payout_cents: int | None
    payout_grace_days: int
    attribution_params: str | None


_PROGRAMS = Rows(MappedProgram)
_LIST_PROGRAMS = """
select p.id, p.name, p.referral_destination_url, p.default_commission_model,
  coalesce(p.sale_commission_type, p.default_commission_type),
  coalesce(p.sale_commission_value, p.default_commission_value), p.fee_currency, p.cookie_window_days,
  p.recurring_months, p.min_payout_cents, o.payout_grace_days, o.attribution_params
from program p join organization o on o.id = p.organization_id
where p.organization_id = %s and p.id = any(%s) order by p.id
"""


def list_programs(*, organization_id: UUID, program_ids: Sequence[UUID]) -> list[MappedProgram]:
    """Return these programs of the organization, by id."""
    return _PROGRAMS.all(_LIST_PROGRAMS, (organization_id, list(program_ids)))
