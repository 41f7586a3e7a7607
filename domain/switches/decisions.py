"""What Run writes for a row: one class for each collection. Judging makes them, writing reads nothing else of a row.

A row whose verdict is `left_out` has none; `known` and `merged` rows may have one, but nothing is written for them.
`target_id` of the row is the record here that it becomes: for `new` it is chosen when judging, so that rows of later
collections can refer to it. The target of an old token is the link that it leads to.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID, uuid5


@dataclass(frozen=True, slots=True)
class AffiliateDecision:
    """A new affiliate with their default link (`slug`). A merged one has only ids, of which nothing is written.

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

    `added_payments` is how many of them are not counted here yet (all of them for a new customer), `brought_payments`
    how many came over as commissions. `names_affiliate`: the customer's own row names the affiliate. `source_id` is the
    id under which a later switch finds the customer; None: that of the row.
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
    brought_payments: int = 0
    names_affiliate: bool = True
    source_id: str | None = None


@dataclass(frozen=True, slots=True)
class CommissionDecision:
    """A conversion, a change of one that was brought before, or a refund of one.

    Conversions have the source `import`; a later switch finds them by `external_event_id` and that source.
    `act` change: only `status` (Paid, Refunded or Denied) and `is_locked` change. `act` refund: `commission_cents` and
    `refunded_cents` are taken from the conversion; the row's `target_id` is the id of the refund to insert. It is the
    same in every switch of the source (`refund_id`), so a later switch finds that the refund is booked. With
    `is_owed_back` a refund of a sale that was paid there lowers what the affiliate is owed here.
    `charge_id` and `sale_cents` (the amount of the sale, also where another commission carries it; None:
    `amount_cents`) find a sale that was booked here since. `taken_back_cents` is what a change takes of what is owed.
    """

    act: Literal["create", "change", "refund"]
    conversion_id: UUID
    affiliate_id: UUID
    program_id: UUID
    external_event_id: str
    status: str
    is_locked: bool
    type: Literal["OneTime", "Recurring", "Bonus"]
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
    is_owed_back: bool = False
    charge_id: str | None = None
    sale_cents: int | None = None
    taken_back_cents: int = 0


def external_event_id(source: str, source_id: str) -> str:
    """Return the external id of a brought conversion: the same in every switch of a source."""
    return f"switch:{source}:{source_id}"


def refund_id(organization_id: UUID, source: str, source_id: str) -> UUID:
    """Return the id of the refund that a negative commission becomes: the same in every switch of a source."""
    return uuid5(organization_id, external_event_id(source, source_id))
