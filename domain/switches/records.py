"""A row of a source, understood: one class for each collection, the same for every source.

Adapters make them from what the source answered (`adapters.switches.base`); judging reads nothing else. Money is whole
minor units. A record with a `problem` is left out for that reason whatever the brand has; its money still counts.
Source: the switch-over rules, "How rows become records".
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from domain.statuses import AffiliateStatus
from domain.switches.reasons import LeftOutReason


@dataclass(frozen=True, slots=True)
class AffiliateRef:
    """How a row names its affiliate: the source id of a row of `affiliates`, an email, or a link's token.

    The first that is not None counts. `name` and `campaign` are known if the row says them.
    """

    id: str | None = None
    email: str | None = None
    token: str | None = None
    name: str = ""
    campaign: str | None = None


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """A group of affiliates there; its rate where the source names it, percent or major units."""

    name: str
    type: Literal["Percentage", "Fixed"] | None = None
    value: Decimal | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class CampaignTerms:
    """What the source says of a campaign, as far as it says it.

    `is_unlimited`: it says that each payment of a customer earns, so that `recurring_months` None is a term.
    """

    commission_type: Literal["Percentage", "Fixed"] | None = None
    commission_value: Decimal | None = None
    commission_currency: str | None = None
    cookie_window_days: int | None = None
    recurring_months: int | None = None
    hold_days: int | None = None
    minimum_payout_cents: int | None = None
    is_unlimited: bool = False


@dataclass(frozen=True, slots=True)
class SourceCampaign:
    """A campaign; `affiliates` is their number where the source tells it."""

    source_id: str
    name: str
    terms: CampaignTerms = CampaignTerms()
    affiliates: int | None = None


@dataclass(frozen=True, slots=True)
class SourceAffiliate:
    """One person in one campaign. `status` None: the source's word (`word`) is unknown.

    `campaign` None: the row names none, so that it is the account's only one.
    `is_mention`: not in the source's list, named by a commission or customer only. `has_recruiter`: another
    affiliate recruited them there, which is not brought. `person` is the source's id of the person where a row is one
    of several of them.
    """

    source_id: str
    campaign: str | None
    email: str | None
    full_name: str
    status: AffiliateStatus | None
    word: str
    wallet_email: str | None = None
    group: SourceGroup | None = None
    created_at: datetime | None = None
    has_recruiter: bool = False
    person: str | None = None
    is_mention: bool = False
    problem: LeftOutReason | None = None


@dataclass(frozen=True, slots=True)
class SourceLink:
    """A link's token as the old system spells it (percent-decoded), and its parameter.

    `place` orders the links of an affiliate: the first becomes the default link. `url` is the whole address where the
    source tells it.
    """

    source_id: str
    affiliate: AffiliateRef
    token: str
    parameter: str | None = None
    url: str | None = None
    place: int = 0
    problem: LeftOutReason | None = None


@dataclass(frozen=True, slots=True)
class SourceCode:
    """A coupon code of an affiliate."""

    source_id: str
    affiliate: AffiliateRef
    code: str
    is_archived: bool = False
    problem: LeftOutReason | None = None


@dataclass(frozen=True, slots=True)
class SourceCustomer:
    """A customer or lead of an affiliate.

    `billing_id` is certainly the billing system's; `claimed_id` is a field that may hold anything
    (`domain.switches.rules.customer_ids`). `payments` is the source's own number, where it tells one.
    """

    source_id: str
    affiliate: AffiliateRef | None
    campaign: str | None
    billing_id: str | None = None
    claimed_id: str | None = None
    subscription_id: str | None = None
    email: str | None = None
    name: str | None = None
    first_paid_at: datetime | None = None
    became_lead_at: datetime | None = None
    created_at: datetime | None = None
    payments: int | None = None
    problem: LeftOutReason | None = None


class CommissionKind(StrEnum):
    """What a commission's state there means; the last two are lost."""

    Paid = "paid"
    Owed = "owed"
    Pending = "pending"
    Held = "held"
    Refunded = "refunded"
    Denied = "denied"


@dataclass(frozen=True, slots=True)
class SourceCommission:
    """A commission with its sale. `kind` None: the source's word (`word`) is unknown.

    `amount_cents` is the sale before refunds and after tax, `refunded_cents` what was refunded of it. `payment` is
    equal for all commissions of one payment: the first by source id carries the amount. A negative `commission_cents`
    is no sale but takes back what `payment` or `charge_id` names. `due_at` is when a pending one becomes due. The
    customer is `customer` (the source id of a row of `customers`) or the ids that the row itself has.
    `problem` NotMoney: another unit than money. `is_sale` False: a reward for a lead or a bonus, for which no one paid.
    """

    source_id: str
    affiliate: AffiliateRef | None
    campaign: str | None
    kind: CommissionKind | None
    word: str
    currency: str | None
    amount_cents: int
    commission_cents: int
    occurred_at: datetime | None
    refunded_cents: int = 0
    due_at: datetime | None = None
    payment: str | None = None
    charge_id: str | None = None
    customer: str | None = None
    billing_id: str | None = None
    claimed_id: str | None = None
    subscription_id: str | None = None
    customer_email: str | None = None
    customer_name: str | None = None
    warnings: tuple[str, ...] = ()
    problem: LeftOutReason | None = None
    is_sale: bool = True


@dataclass(frozen=True, slots=True)
class SourcePayout:
    """A payout there; only compared. `is_done`: the money has left."""

    source_id: str
    affiliate: AffiliateRef
    currency: str
    cents: int
    is_done: bool
    problem: LeftOutReason | None = None


Record = SourceCampaign | SourceAffiliate | SourceLink | SourceCode | SourceCustomer | SourceCommission | SourcePayout
