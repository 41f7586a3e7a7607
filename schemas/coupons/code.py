"""Codes of affiliates on the wire. Source: tracking spec, "Affiliate coupon"."""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from domain.coupons.discounts import CodeOrigin, CodeStatus, Discount, DiscountDuration, DiscountType
from domain.gateways.names import Gateway
from domain.money import money
from schemas.base import Flag, Instant, Wire, one_of, text, whole
from schemas.coupons import discount

# Longer than a code can be, so that what is wrong with it is said by the rule for codes.
_LONGEST = 200


class MintBody(Wire):
    """A code to mint; without `code` one of eight characters is drawn."""

    campaign_coupon_id = fields.UUID(required=True)
    code = text(longest=_LONGEST, load_default=None, allow_none=True)


class AffiliateCouponBody(Wire):
    """A code to mint for an affiliate, of a coupon or with a discount of its own; or an external one to register.

    An external code needs its text and may have no coupon. Loads to columns by name; `discount` is what a code without
    a coupon takes off, None for the others.
    """

    campaign_coupon_id = fields.UUID(load_default=None, allow_none=True)
    code = text(longest=_LONGEST, load_default=None, allow_none=True)
    external = Flag(load_default=False)
    discount_type = one_of(DiscountType, load_default=None, allow_none=True)
    discount_value = whole(
        load_default=None, allow_none=True, validate=validate.Range(min=1, max=money.MAX_AMOUNT_CENTS)
    )
    discount_currency = text(longest=3, shortest=3, load_default=None, allow_none=True)
    expires_at = Instant(load_default=None, allow_none=True)
    max_redemptions = whole(load_default=None, allow_none=True, validate=validate.Range(min=1, max=2**31 - 1))

    @validates_schema
    def _fits_together(self, sent: dict[str, Any], **_: object) -> None:
        given = [self.fields[name].data_key or name for name in _DISCOUNT if sent.get(name) is not None]
        if sent.get("external") or sent.get("campaign_coupon_id") is not None:
            if given:
                message = "Leave this out: only a code without a coupon, minted by this request, has its own discount."
                raise ValidationError(message, given[0])
            return
        if sent.get("discount_type") is None:
            message = "Send campaignCouponId, or discountType and discountValue for a code without a coupon."
            raise ValidationError(message, "discountType" if given else "campaignCouponId")
        if sent.get("discount_value") is None:
            raise ValidationError("A code without a coupon needs discountType and discountValue.", "discountValue")
        discount.check(sent)

    @post_load
    def _settle_on_discount(self, sent: dict[str, Any], **_: object) -> dict[str, Any]:
        own = None
        if sent["discount_type"] is not None:
            own = Discount(
                type=DiscountType(sent["discount_type"]),
                value=sent["discount_value"],
                currency=discount.currency_of(sent),
                duration=DiscountDuration.Once,
                months=None,
                max_redemptions_per_code=sent["max_redemptions"],
                expires_at=sent["expires_at"],
                product_refs=(),
            )
        return {name: value for name, value in sent.items() if name not in _DISCOUNT} | {"discount": own}


_DISCOUNT = ("discount_type", "discount_value", "discount_currency", "expires_at", "max_redemptions")


class AffiliateCouponRecord(Wire):
    """A code that credits one affiliate. `processor` is the gateway where it was minted, null for an external one.

    What it takes off is null where a coupon or another system says it.
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
    """A coupon from which an affiliate may mint codes; `codesHeld` are those of it that they have in force."""

    wire_name = "MintableCoupon"

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
