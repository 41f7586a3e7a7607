"""Codes of affiliates on the wire. Source: tracking spec, "Affiliate coupon"."""

from marshmallow import fields

from domain.coupons.discounts import CodeOrigin, CodeStatus, DiscountDuration, DiscountType
from schemas.base import Flag, Instant, Wire, one_of, text

# Longer than a code can be, so that what is wrong with it is said by the rule for codes.
_LONGEST = 200


class MintBody(Wire):
    """A code to mint; without `code` one of eight characters is drawn."""

    campaign_coupon_id = fields.UUID(required=True)
    code = text(longest=_LONGEST, load_default=None, allow_none=True)


class AffiliateCouponBody(Wire):
    """A code to mint for an affiliate, or an external one to register, which needs its text and may have no coupon."""

    campaign_coupon_id = fields.UUID(load_default=None, allow_none=True)
    code = text(longest=_LONGEST, load_default=None, allow_none=True)
    external = Flag(load_default=False)


class AffiliateCouponRecord(Wire):
    """A code that credits one affiliate."""

    id = fields.UUID()
    campaign_coupon_id = fields.UUID(allow_none=True)
    program_id = fields.UUID()
    affiliate_id = fields.UUID()
    code = fields.String()
    origin = one_of(CodeOrigin)
    status = one_of(CodeStatus)
    processor_promotion_code_id = fields.String(allow_none=True)
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
