"""Whom a gateway's payment may credit, and what it is priced by."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from domain.gateways.facts import RedeemedCode
from models.conditions import OPEN_PROGRAM
from models.conversions import sale_terms
from models.conversions.sale_terms import SaleTerms
from models.db import db
from models.gateways.naming import claims, codes, doors, history, leads
from models.hot import FreshSelect, Hot, of_each
from models.table import Rows, as_json


@dataclass(frozen=True, slots=True)
class RedeemableCode:
    """A code that a payment may have redeemed, with what its sales earn. One that was made elsewhere is external.

    Of one that is still being minted it is not known whether it is its owner's. `place` is its position among the
    redeemed codes, the first is 1.
    """

    id: UUID
    text: str
    origin: str
    overrides: bool
    is_revoked: bool
    is_minting: bool
    commission_type: str | None
    commission_value: Decimal | None
    place: int


@dataclass(frozen=True, slots=True)
class Creditable:
    """An affiliate whom something names. `slug` is the claimed one, `lead_id` to `occurred_at` are of a lead.

    `may_earn`: the campaign is open and pays for sales. `came_by_door`: the claimed slug came through their checkout
    door within the cookie window. `code` is there where a redeemed code names them. The rest is
    what a payment is priced by if they are credited: which one of its customer it is, what a sale counts, their terms.
    """

    by: Literal["claim", "customer", "subscription", "email", "door", "lead", "code"]
    slug: str | None
    affiliate_id: UUID
    affiliate_status: str
    affiliate_email: str
    program_id: UUID
    may_earn: bool
    came_by_door: bool
    lead_id: UUID | None
    sub_id: str | None
    occurred_at: datetime | None
    code: RedeemableCode | None
    ordinal: int
    first_paid_at: datetime
    commission_basis: str
    terms: SaleTerms


_NAMED_ROWS = Rows(Creditable)
_NAMING = f"""
with named (place, by, slug, affiliate_id, lead_id, sub_id, occurred_at,
  code_id, code, origin, overrides, is_revoked, is_minting, commission_type, commission_value) as (
  {" union all ".join(one.SELECT for one in (claims, history, doors, leads, codes))}
)
select named.by, named.slug, a.id, a.status, a.email_normalized, a.program_id,
  {OPEN_PROGRAM} and (p.default_commission_model not in ('Cpc', 'Cpl') or p.sale_commission_type is not null),
  named.by = 'claim' and exists (
    select from door_visit d where d.organization_id = %(org)s and d.program_id = a.program_id and d.slug = named.slug
      and d.affiliate_id = a.id and {doors.COUNTS}
  ),
  named.lead_id, named.sub_id, named.occurred_at,
  named.code_id, named.code, named.origin, named.overrides, named.is_revoked, named.is_minting,
  named.commission_type, named.commission_value, named.place,
  coalesce(c.payments, 0) + 1, least(c.first_paid_at, %(at)s), o.commission_basis, {sale_terms.COLUMNS}
from named
join affiliate a on a.id = named.affiliate_id
{sale_terms.JOINS}
left join program_customer c on c.organization_id = %(org)s and c.program_id = a.program_id
  and c.customer_key = %(payer)s
order by named.place
"""
_NAMED = FreshSelect(_NAMING)


@dataclass(frozen=True, slots=True)
class AskedOrigin:
    """What may name an affiliate for a payment of `at`, and by whom the payments of its buyer are counted (`payer`).

    `connection_id` is the connection that the payment came by: ids of codes are compared within its account.
    """

    gateway: str
    connection_id: UUID
    slugs: Sequence[str]
    codes: Sequence[RedeemedCode]
    customer_id: str | None
    subscription_id: str | None
    email_normalized: str | None
    payer: str | None
    is_test: bool
    at: datetime


def named(asked: AskedOrigin, *, organization_id: UUID) -> list[Creditable]:
    """Return the affiliates whom slugs, redeemed codes, earlier payments, checkout doors and leads name.

    Claims come in the order of `slugs`, codes in that of `codes` (`naming.codes` says which code is matched);
    who earned before by the subscription, the customer, the email.
    Budget: 1 statement.
    """
    return _NAMED_ROWS.all(_NAMED, {"org": organization_id, **_asked(asked)})


@dataclass(frozen=True, slots=True)
class _NamedByOne:
    """A row of many payments: the place of the payment and that of the row among its own, which stands there first."""

    place: int
    nth: int
    named: Creditable


_NAMED_BY_MANY_ROWS = Rows(_NamedByOne)
_NAMED_BY_MANY = FreshSelect(f"""
select asked.place, named.*
from jsonb_to_recordset(%(asked)s) as asked (place int, gateway text, connection uuid, slugs text[],
  code_texts text[], code_ids text[], code_ids_certain boolean[], customer text, subscription text, email text,
  payer text, is_test boolean, at timestamptz)
cross join lateral (
  {of_each(_NAMING).replace("select named.by,", "select row_number() over (order by named.place), named.by,")}
) named
""")


def named_by_each(asked: Sequence[AskedOrigin], *, organization_id: UUID) -> list[list[Creditable]]:
    """Return of each payment what `named` does, in the order in which they are asked for.

    Budget: 1 statement for all.
    """
    rows = [{"place": place, **_asked(one)} for place, one in enumerate(asked)]
    found = _NAMED_BY_MANY_ROWS.all(_NAMED_BY_MANY, {"org": organization_id, "asked": as_json(rows)})
    each: list[list[Creditable]] = [[] for _ in asked]
    for row in sorted(found, key=lambda row: row.nth):
        each[row.place].append(row.named)
    return each


def _asked(asked: AskedOrigin) -> dict[str, object]:
    return {
        "gateway": asked.gateway,
        "connection": asked.connection_id,
        "slugs": list(asked.slugs),
        "code_texts": [code.text.upper() for code in asked.codes],
        "code_ids": [code.id for code in asked.codes],
        "code_ids_certain": [code.is_id_certain for code in asked.codes],
        "customer": asked.customer_id,
        "subscription": asked.subscription_id,
        "email": asked.email_normalized,
        "payer": asked.payer,
        "is_test": asked.is_test,
        "at": asked.at,
    }


# What others counted since `named` looked is not counted over: null is what the column refuses, and the job is tried
# again.
# They are counted in one order, so that two that count several of the same never wait for each other.
_COUNT = Hot("""
insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, payments)
select %s, counted.* from unnest(%s::uuid[], %s::text[], %s::timestamptz[], %s::int[])
  as counted (program_id, customer_key, first_paid_at, payments)
on conflict (organization_id, program_id, customer_key) do update
  set payments = case c.payments when excluded.payments - 1 then excluded.payments end,
    first_paid_at = excluded.first_paid_at
""")


def stage_counted(payments: Sequence[tuple[Creditable, str]], *, organization_id: UUID) -> None:
    """Stage that payments count as those of their customers (by key), by the numbers that `named` found for them.

    One statement for all, of which no two have the same customer.
    """
    ordered = sorted((named.program_id, key, named.first_paid_at, named.ordinal) for named, key in payments)
    if ordered:
        db.stage(_COUNT, (organization_id, *map(list, zip(*ordered, strict=True))))
