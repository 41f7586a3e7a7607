"""Codes of affiliates in the API. Source: tracking spec, "Affiliate coupon"."""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from domain.coupons.discounts import CodeOrigin, CodeStatus, Discount, DiscountDuration, DiscountType
from domain.gateways.names import Gateway
from domain.money import money
from schemas.base import Flag, Instant, Wire, integer, one_of, text
from schemas.coupons import discount

# Longer than a code can be, so that the rule for codes reports the fault.
_MAX_CODE_CHARS = 200


class MintBody(Wire):
    """A code to mint; without `code` a random one of eight characters is generated."""

    campaign_coupon_id = fields.UUID(required=True)
    code = text(longest=_MAX_CODE_CHARS, load_default=None, allow_none=True)


class AffiliateCouponBody(Wire):
    """A code to mint for an affiliate, of a coupon or with a discount of its own; or an external one to register.

    An external code needs its text and may have no coupon. Loads to columns by name; `discount` is that of a code
    without a coupon, None for the others.
    """

    campaign_coupon_id = fields.UUID(load_default=None, allow_none=True)
    code = text(longest=_MAX_CODE_CHARS, load_default=None, allow_none=True)
    external = Flag(load_default=False)
    discount_type = one_of(DiscountType, load_default=None, allow_none=True)
    discount_value = integer(
        load_default=None, allow_none=True, validate=validate.Range(min=1, max=money.MAX_AMOUNT_CENTS)
    )
    discount_currency = text(longest=3, shortest=3, load_default=None, allow_none=True)
    expires_at = Instant(load_default=None, allow_none=True)
    max_redemptions = integer(load_default=None, allow_none=True, validate=validate.Range(min=1, max=2**31 - 1))

    @validates_schema
    def _fits_together(self, body: dict[str, Any], **_: object) -> None:
        given = [self.fields[name].data_key or name for name in _DISCOUNT if body.get(name) is not None]
        if body.get("external") or body.get("campaign_coupon_id") is not None:
            if given:
                message = "Leave this out: only a code without a coupon, minted by this request, has its own discount."
                raise ValidationError(message, given[0])
            return
        if body.get("discount_type") is None:
            message = "Send campaignCouponId, or discountType and discountValue for a code without a coupon."
            raise ValidationError(message, "discountType" if given else "campaignCouponId")
        if body.get("discount_value") is None:
            raise ValidationError("A code without a coupon needs discountType and discountValue.", "discountValue")
        discount.check(body)

    @post_load
    def _settle_on_discount(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        own = None
        if body["discount_type"] is not None:
            own = Discount(
                type=DiscountType(body["discount_type"]),
                value=body["discount_value"],
                currency=discount.currency_of(body),
                duration=DiscountDuration.Once,
                months=None,
                max_redemptions_per_code=body["max_redemptions"],
                expires_at=body["expires_at"],
                product_refs=(),
            )
        return {name: value for name, value in body.items() if name not in _DISCOUNT} | {"discount": own}


_DISCOUNT = ("discount_type", "discount_value", "discount_currency", "expires_at", "max_redemptions")


class AffiliateCouponRecord(Wire):
    """A code that credits one affiliate. `processor` is the gateway where it was minted, null for an external one.

    The discount is null if a coupon or another system defines it.
    """

    id = fields.UUID()
    campaign_coupon_id = fields.UUID(allow_none=True)
    program_id = fields.UUID()
    affiliate_id = fields.UUID()
    code = fields.String()
    origin = one_of(CodeOrigin)
    status = one_of(CodeStatus)
    processor = one_of(Gateway, allow_none=True)
    processor_promotion_code_id = fields.String(allow_none=True)
    discount_type = one_of(DiscountType, allow_none=True)
    discount_value = fields.Integer(allow_none=True)
    discount_currency = fields.String(allow_none=True)
    expires_at = Instant(allow_none=True)
    max_redemptions = fields.Integer(allow_none=True)
    redemption_count = fields.Integer()
    last_redeemed_at = Instant(allow_none=True)
    created_at = Instant()
    revoked_at = Instant(allow_none=True)


class MintableCouponRecord(Wire):
    """A coupon of which an affiliate may mint codes; `codesHeld` is the number of their valid codes of it."""

    id = fields.UUID()
    program_id = fields.UUID()
    program_name = fields.String()
    organization_name = fields.String()
    name = fields.String()
    discount_type = one_of(DiscountType)
    discount_value = fields.Integer()
    discount_currency = fields.String(allow_none=True)
    duration = one_of(DiscountDuration)
    duration_in_months = fields.Integer(allow_none=True)
    expires_at = Instant(allow_none=True)
    max_codes_per_affiliate = fields.Integer(allow_none=True)
    codes_held = fields.Integer(attribute="held")
