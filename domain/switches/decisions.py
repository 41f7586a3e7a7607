"""What Run writes for a row: one class for each collection. Judging makes them, writing reads nothing else of a row.

A row whose verdict is `known` or `left_out` has none. `target_id` of the row is the record here that it becomes: for
`new` it is chosen when judging, so that rows of later collections can refer to it.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class AffiliateDecision:
    """A new affiliate with their default link (`slug`), or a merged one: then only `affiliate_id` and `program_id`.

    `group_*` name the partner group to create or use.
    """

    affiliate_id: UUID
    program_id: UUID
    email: str = ""
    full_name: str = ""
    status: str = ""
    wallet_email: str | None = None
    tags: tuple[str, ...] = ()
    group_name: str | None = None
    group_type: Literal["Percentage", "Fixed"] | None = None
    group_value: Decimal | None = None
    group_currency: str | None = None
    link_id: UUID | None = None
    slug: str | None = None


@dataclass(frozen=True, slots=True)
class LinkDecision:
    """A token of an affiliate: an additional link with the token as slug, or an old token that leads to `link_id`.

    `slug` None: only the old token is written. `old_token` None: only the link. Both None: the default link has it.
    """

    affiliate_id: UUID
    program_id: UUID
    link_id: UUID
    slug: str | None
    old_token: str | None


@dataclass(frozen=True, slots=True)
class CodeDecision:
    """An external code in upper case."""

    affiliate_id: UUID
    program_id: UUID
    code: str


@dataclass(frozen=True, slots=True)
class CustomerDecision:
    """A customer by every name, with first payment and number of payments there.

    `added_payments` is how many of them are not counted here yet (all of them for a new customer).
    """

    customer_id: UUID
    affiliate_id: UUID
    program_id: UUID
    processor_customer_id: str | None
    processor_subscription_id: str | None
    email: str | None
    name: str | None
    first_paid_at: datetime | None
    payments: int
    added_payments: int
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class CommissionDecision:
    """A conversion, a change of one that was brought before, or a refund of one.

    `act` change: only `status` (Paid, Refunded or Denied) changes. `act` refund: `commission_cents` and
    `refunded_cents` are taken from the conversion.
    """

    act: Literal["create", "change", "refund"]
    conversion_id: UUID
    affiliate_id: UUID
    program_id: UUID
    external_event_id: str
    status: str
    is_locked: bool
    type: Literal["OneTime", "Recurring"]
    currency: str
    amount_cents: int
    refunded_cents: int
    commission_cents: int
    occurred_at: datetime
    hold_until: datetime | None = None
    processor_customer_id: str | None = None
    processor_subscription_id: str | None = None
    customer_email: str | None = None
    customer_name: str | None = None
