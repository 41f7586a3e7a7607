"""The facts of a payment from which attribution decides whom to credit.

Source: tracking spec, section 8, "Lead attribution order"; "Campaign coupon"; "Attribution method taxonomy".
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

#: The method of a processor's own promotion code. Codes of other gateways have methods of their own.
PROMOTION_CODE = "coupon"

#: The method of a buyer who came through a campaign's checkout door.
CHECKOUT_DOOR = "checkout_door"


@dataclass(frozen=True, slots=True)
class NamedAffiliate:
    """An affiliate that something names. `status` is the one at sale time, `email` normalized (None: not loaded)."""

    id: UUID
    status: str
    email: str | None = None


@dataclass(frozen=True, slots=True)
class Coupon:
    """A redeemed code, its owner, and whether it wins over everything else that the payment carries.

    `is_revoked`: it is revoked here, but the gateway accepted it all the same.
    """

    owner: NamedAffiliate
    overrides: bool
    method: str = PROMOTION_CODE
    is_revoked: bool = False


@dataclass(frozen=True, slots=True)
class Referral:
    """An affiliate whom the payment itself names. `method` is such as stripe_metadata; None for a signed sale."""

    affiliate: NamedAffiliate
    method: str | None


@dataclass(frozen=True, slots=True)
class History:
    """The affiliate of the customer's earlier payments. `method` is such as stripe_customer_history."""

    affiliate: NamedAffiliate
    method: str


@dataclass(frozen=True, slots=True)
class Lead:
    """The newest lead of the buyer's inbox, in any campaign of the organization, that may credit its affiliate.

    `occurred_at` is aware UTC. `is_after_payment`: the buyer had paid before the lead was recorded.
    """

    id: UUID
    affiliate: NamedAffiliate
    occurred_at: datetime
    sub_id: str | None = None
    is_after_payment: bool = False


@dataclass(frozen=True, slots=True)
class Signup:
    """A newsletter or CRM platform's own record of who brought the buyer."""

    affiliate: NamedAffiliate
    platform: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A payment with everything that may credit an affiliate for it; None: absent.

    `door` is the affiliate at whose checkout door the buyer's email was last given, within the campaign's cookie
    window. `paid_at` is aware UTC, `buyer_email` normalized, `gateway` the native connection it came through (None:
    signed).
    """

    paid_at: datetime
    gateway: str | None = None
    buyer_email: str | None = None
    sub_id: str | None = None
    coupon: Coupon | None = None
    referral: Referral | None = None
    history: History | None = None
    door: NamedAffiliate | None = None
    lead: Lead | None = None
    signup: Signup | None = None
