"""The data of the events of coupons, field by field.

Source: tracking spec, section 6 "Events", campaign_coupon.* and affiliate_coupon.*.
"""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from domain.coupons.discounts import CodeOrigin, SelfMintMode
from domain.webhooks.events import timestamp, without_nulls


class ToldCoupon(Protocol):
    """What events tell of a family of codes."""

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
    """What events tell of a code."""

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
    """Return the data of campaign_coupon.created. The currency is of AmountOff alone, in whose minor units it is."""
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
    """Return the data of campaign_coupon.updated; what a coupon takes off never changes and is not told."""
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
    """Return the data of campaign_coupon.deactivated: a coupon that is archived, with how many codes ended with it."""
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
    """Return the data of affiliate_coupon.created; its source is told of self-minted codes alone."""
    source = code.origin if code.origin == CodeOrigin.SelfMinted else None
    return without_nulls({**_code(code), "createdAt": timestamp(code.created_at), "source": source})


def code_deactivated(code: ToldCode) -> dict[str, object]:
    """Return the data of affiliate_coupon.deactivated: a code that the brand took back."""
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
