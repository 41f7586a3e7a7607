"""The affiliates whom a gateway's payment may credit, with the terms that price it."""

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
from models.gateways.credit_sources import claims, codes, doors, history, leads
from models.prepared_statements import FreshSelect
from models.table import Rows


@dataclass(frozen=True, slots=True)
class RedeemableCode:
    """A code that a payment may have redeemed, with its commission. A code created outside this service is external.

    While a code is being minted, it is unknown whether the redeemed one is its owner's. `place` is its position among
    the redeemed codes, from 1.
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
class CreditCandidate:
    """An affiliate whom a payment may credit. `slug` is the claimed one, `lead_id` to `occurred_at` are of a lead.

    `is_open`: the campaign is open; `may_earn`: it also pays for sales. `came_by_door`: the claimed slug came through
    their checkout door within the cookie window. `is_after_payment`: the buyer had paid before the lead was created.
    `code` is the redeemed code of theirs, if any. The rest prices a payment that credits them: its number among the
    customer's payments, the commission basis, their terms. `joins_subscription`: some of those payments are counted
    under a customer to whom only the payment's subscription leads.
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
    joins_subscription: bool
    commission_basis: str
    cookie_window_days: int
    terms: SaleTerms


_CANDIDATE_ROWS = Rows(CreditCandidate)
_NAMING = f"""
with named (place, by, slug, affiliate_id, lead_id, sub_id, occurred_at, is_after_payment,
  code_id, code, origin, overrides, is_revoked, is_minting, commission_type, commission_value) as (
  {" union all ".join(source.SELECT for source in (claims, history, doors, leads, codes))}
)
select named.by, named.slug, a.id, a.status, a.email_normalized, a.program_id,
  {OPEN_PROGRAM}, {SELLING_PROGRAM}, named.by = 'claim' and {doors.handed_on_sql("a", "named.slug")},
  named.lead_id, named.sub_id, named.occurred_at, named.is_after_payment,
  named.code_id, named.code, named.origin, named.overrides, named.is_revoked, named.is_minting,
  named.commission_type, named.commission_value, named.place,
  c.payments + 1, least(c.first_paid_at, %(at)s), c.leads_elsewhere, o.commission_basis, p.cookie_window_days,
  {sale_terms.COLUMNS}
from named
join affiliate a on a.id = named.affiliate_id
{sale_terms.JOINS}
cross join lateral paying_customer(%(org)s, a.program_id, {customers.NAMES}, %(subscription_name)s::text) c
order by named.place
"""
_CANDIDATES = FreshSelect(_NAMING, also=("program_customer",))


@dataclass(frozen=True, slots=True)
class PaymentOrigin:
    """The data of a payment made `at` that may name an affiliate, and the identifiers of its customer (`payer`).

    `slugs` are slugs and tokens of a former system; `slugs_may_be` says which (`domain.gateways.referrals.Claim`).
    `connection_id` is the connection that reported the payment: ids of codes are compared within its account.
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
    slugs_may_be: Sequence[str] = ()


def list_candidates(origin: PaymentOrigin, *, organization_id: UUID) -> list[CreditCandidate]:
    """Return the affiliates named by slugs, redeemed codes, earlier payments, checkout doors and leads.

    Claims come in the order of `slugs`, codes in that of `codes` (see `credit_sources.codes`),
    earlier earners in the order subscription, customer, email.
    Budget: 1 statement.
    """
    return _CANDIDATE_ROWS.all(_CANDIDATES, {"org": organization_id, **_params(origin)})


def _params(origin: PaymentOrigin) -> dict[str, object]:
    return {
        "gateway": origin.gateway,
        "connection": origin.connection_id,
        "slugs": list(origin.slugs),
        "slugs_may_be": list(origin.slugs_may_be),
        "code_texts": [code.text.upper() for code in origin.codes],
        "code_ids": [code.id for code in origin.codes],
        "code_ids_certain": [code.is_id_certain for code in origin.codes],
        "customer": origin.customer_id,
        "subscription": origin.subscription_id,
        "email": origin.email_normalized,
        **customers.name_params(origin.payer),
        "subscription_name": origin.payer.subscription_name,
        "is_test": origin.is_test,
        "at": origin.at,
    }
