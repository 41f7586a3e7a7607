"""Whom a gateway's payment may credit, and what it is priced by."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from domain.conversions.customers import CustomerNames
from domain.gateways.facts import RedeemedCode
from models.conditions import OPEN_PROGRAM, SELLING_PROGRAM
from models.conversions import customers, sale_terms
from models.conversions.sale_terms import SaleTerms
from models.gateways.naming import claims, codes, doors, history, leads
from models.prepared_statements import FreshSelect
from models.table import Rows


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

    `is_open`: something can be earned in the campaign; `may_earn`: it pays for sales, too. `came_by_door`: the claimed
    slug came through their checkout door within the cookie window. `is_after_payment`: the buyer had paid before the
    lead was made. `code` is there where a redeemed code names them. The rest is
    what a payment is priced by if they are credited: which one of its customer it is, what a sale counts, their terms.
    """

    by: Literal["claim", "customer", "subscription", "email", "door", "lead", "code"]
    slug: str | None
    affiliate_id: UUID
    affiliate_status: str
    affiliate_email: str
    program_id: UUID
    is_open: bool
    may_earn: bool
    came_by_door: bool
    lead_id: UUID | None
    sub_id: str | None
    occurred_at: datetime | None
    is_after_payment: bool | None
    code: RedeemableCode | None
    ordinal: int
    first_paid_at: datetime
    commission_basis: str
    cookie_window_days: int
    terms: SaleTerms


_NAMED_ROWS = Rows(Creditable)
_NAMING = f"""
with named (place, by, slug, affiliate_id, lead_id, sub_id, occurred_at, is_after_payment,
  code_id, code, origin, overrides, is_revoked, is_minting, commission_type, commission_value) as (
  {" union all ".join(one.SELECT for one in (claims, history, doors, leads, codes))}
)
select named.by, named.slug, a.id, a.status, a.email_normalized, a.program_id,
  {OPEN_PROGRAM}, {SELLING_PROGRAM}, named.by = 'claim' and {doors.passed_by("a", "named.slug")},
  named.lead_id, named.sub_id, named.occurred_at, named.is_after_payment,
  named.code_id, named.code, named.origin, named.overrides, named.is_revoked, named.is_minting,
  named.commission_type, named.commission_value, named.place,
  coalesce(c.payments, 0) + 1, least(c.first_paid_at, %(at)s), o.commission_basis, p.cookie_window_days,
  {sale_terms.COLUMNS}
from named
join affiliate a on a.id = named.affiliate_id
{sale_terms.JOINS}
left join lateral customer_payments(%(org)s, a.program_id, {customers.NAMES}) c on true
order by named.place
"""
_NAMED = FreshSelect(_NAMING, also=("program_customer",))


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
    payer: CustomerNames
    is_test: bool
    at: datetime


def named(asked: AskedOrigin, *, organization_id: UUID) -> list[Creditable]:
    """Return the affiliates whom slugs, redeemed codes, earlier payments, checkout doors and leads name.

    Claims come in the order of `slugs`, codes in that of `codes` (`naming.codes` says which code is matched);
    who earned before by the subscription, the customer, the email.
    Budget: 1 statement.
    """
    return _NAMED_ROWS.all(_NAMED, {"org": organization_id, **_asked(asked)})


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
        **customers.named(asked.payer),
        "is_test": asked.is_test,
        "at": asked.at,
    }
