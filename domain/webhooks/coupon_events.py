"""The JSON form of the events of coupons.

Source: tracking spec, section 6 "Events", campaign_coupon.* and affiliate_coupon.*.
"""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from domain.coupons.discounts import CodeOrigin, SelfMintMode
from domain.webhooks.events import timestamp, without_nulls


class ToldCoupon(Protocol):
    """The fields of a campaign coupon in events."""

    @property
    def id(self) -> UUID: ...
    @property
    def program_id(self) -> UUID: ...
    @property
    def name(self) -> str: ...
    @property
    def discount_type(self) -> str: ...
    @property
    def discount_value(self) -> int: ...
    @property
    def discount_currency(self) -> str | None: ...
    @property
    def duration(self) -> str: ...
    @property
    def self_mint_mode(self) -> str: ...
    @property
    def overrides_click_attribution(self) -> bool: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def updated_at(self) -> datetime: ...
    @property
    def archived_at(self) -> datetime | None: ...
    @property
    def archived_codes(self) -> int: ...


class ToldCode(Protocol):
    """The fields of a code in events."""

    @property
    def id(self) -> UUID: ...
    @property
    def campaign_coupon_id(self) -> UUID | None: ...
    @property
    def affiliate_id(self) -> UUID: ...
    @property
    def program_id(self) -> UUID: ...
    @property
    def code(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def revoked_at(self) -> datetime | None: ...


def campaign_created(coupon: ToldCoupon, *, granted: int) -> dict[str, object]:
    """Return the data of campaign_coupon.created. Only AmountOff has a currency, in whose minor units the value is."""
    return without_nulls(
        {
            **campaign_deleted(coupon),
            "name": coupon.name,
            "discountType": coupon.discount_type,
            "discountValue": coupon.discount_value,
            "duration": coupon.duration,
            "selfMintMode": coupon.self_mint_mode,
            "grantedAffiliateCount": granted,
            "createdAt": timestamp(coupon.created_at),
            "discountCurrency": coupon.discount_currency,
        }
    )


def campaign_updated(coupon: ToldCoupon, *, granted: int) -> dict[str, object]:
    """Return the data of campaign_coupon.updated; the discount never changes and is left out."""
    return {
        **campaign_deleted(coupon),
        "name": coupon.name,
        "allowAffiliateSelfMint": coupon.self_mint_mode != SelfMintMode.Disabled,
        "overridesClickAttribution": coupon.overrides_click_attribution,
        "selfMintMode": coupon.self_mint_mode,
        "grantedAffiliateCount": granted,
        "updatedAt": timestamp(coupon.updated_at),
    }


def campaign_deactivated(coupon: ToldCoupon) -> dict[str, object]:
    """Return the data of campaign_coupon.deactivated: an archived coupon, with the number of codes revoked with it."""
    assert coupon.archived_at is not None
    return {
        **campaign_deleted(coupon),
        "archivedAt": timestamp(coupon.archived_at),
        "deactivatedChildCount": coupon.archived_codes,
    }


def campaign_deleted(coupon: ToldCoupon) -> dict[str, object]:
    """Return the data of campaign_coupon.deleted."""
    return {"campaignCouponId": str(coupon.id), "programId": str(coupon.program_id)}


def code_created(code: ToldCode) -> dict[str, object]:
    """Return the data of affiliate_coupon.created; only self-minted codes have a source."""
    source = code.origin if code.origin == CodeOrigin.SelfMinted else None
    return without_nulls({**_code(code), "createdAt": timestamp(code.created_at), "source": source})


def code_deactivated(code: ToldCode) -> dict[str, object]:
    """Return the data of affiliate_coupon.deactivated: a code that the brand revoked."""
    assert code.revoked_at is not None
    return without_nulls({**_code(code), "revokedAt": timestamp(code.revoked_at)})


def code_revoked(code: ToldCode) -> dict[str, object]:
    """Return the data of affiliate_coupon.revoked: a code that its affiliate deleted."""
    return {**code_deactivated(code), "source": "self_deleted"}


def _code(code: ToldCode) -> dict[str, object]:
    family = code.campaign_coupon_id
    return {
        "affiliateCouponId": str(code.id),
        "campaignCouponId": str(family) if family else None,
        "affiliateId": str(code.affiliate_id),
        "programId": str(code.program_id),
        "code": code.code,
    }
