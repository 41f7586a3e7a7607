"""The discount of a coupon's codes, and the states and modes of coupons, spelled as in the API.

Source: tracking spec, "Campaign coupon", "Affiliate coupon".
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DiscountType(StrEnum):
    """How a discount's value is read: whole percents, or minor units of its currency."""

    PercentOff = "PercentOff"
    AmountOff = "AmountOff"


class DiscountDuration(StrEnum):
    """Which payments of a subscription are discounted: the first, those of some months, all."""

    Once = "Once"
    Repeating = "Repeating"
    Forever = "Forever"


class SelfMintMode(StrEnum):
    """Which affiliates may mint codes themselves."""

    Disabled = "Disabled"
    AllAffiliates = "AllAffiliates"
    SpecificAffiliates = "SpecificAffiliates"


class CodeStatus(StrEnum):
    """The state of a code: Minting until the gateway has it."""

    Minting = "Minting"
    Active = "Active"
    Revoked = "Revoked"


class CodeOrigin(StrEnum):
    """Who created a code; an external one was created elsewhere and is only registered here."""

    Brand = "brand"
    SelfMinted = "self_minted"
    External = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discount:
    """The discount of a coupon's codes. It never changes after creation.

    `value` is whole percents, or minor units of `currency`; `months` is for Repeating only; `expires_at` aware UTC.
    Without `product_refs`, the processor's product ids, it applies to the whole order.
    """

    type: DiscountType
    value: int
    currency: str | None
    duration: DiscountDuration
    months: int | None
    max_redemptions_per_code: int | None
    expires_at: datetime | None
    product_refs: tuple[str, ...]
