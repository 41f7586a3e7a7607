"""Campaign coupons in the API. Source: tracking spec, "Campaign coupon"."""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from domain.conversions.commission import CommissionType
from domain.coupons.discounts import DiscountDuration, DiscountType, SelfMintMode
from domain.gateways.names import Gateway
from domain.money import money
from schemas.base import MAY_LACK, Amount, Flag, Instant, Wire, integer, line, not_blank, one_of, rate, text
from schemas.collection_fields import Items
from schemas.coupons import discount
from schemas.paging import PageQuery

_MAX_PRODUCTS, _MAX_PRODUCT_CHARS = 100, 255
_MAX_GRANTS = 10_000
_MAX_CODES = 1_000_000
_MAX_MONTHS = 94


class _Written(Wire):
    """The fields of a coupon that can be set on creation and changed."""

    self_mint_mode = one_of(SelfMintMode, allow_none=True)
    allow_affiliate_self_mint = Flag(allow_none=True)
    granted_affiliate_ids = Items(fields.UUID(), most=_MAX_GRANTS, allow_none=True)
    max_codes_per_affiliate = integer(allow_none=True, validate=validate.Range(min=0, max=_MAX_CODES))
    overrides_click_attribution = Flag(allow_none=True)


class CampaignCouponBody(_Written):
    """A new coupon. Loads to columns by name, with the affiliates who may mint its codes."""

    name = line(longest=200, required=True, validate=[not_blank])
    discount_type = one_of(DiscountType, required=True)
    discount_value = integer(required=True, validate=validate.Range(min=1, max=money.MAX_AMOUNT_CENTS))
    discount_currency = text(longest=3, shortest=3, allow_none=True)
    duration = one_of(DiscountDuration, required=True)
    duration_in_months = integer(allow_none=True, validate=validate.Range(min=1, max=_MAX_MONTHS))
    max_redemptions_per_code = integer(allow_none=True, validate=validate.Range(min=1, max=2**31 - 1))
    expires_at = Instant(allow_none=True)
    product_refs = Items(line(longest=_MAX_PRODUCT_CHARS, validate=[not_blank]), most=_MAX_PRODUCTS, allow_none=True)
    commission_type = one_of(CommissionType, allow_none=True)
    commission_value = rate(allow_none=True)

    @validates_schema
    def _fits_together(self, body: dict[str, Any], **_: object) -> None:
        discount.check(body)
        if body.get("duration") == DiscountDuration.Repeating and body.get("duration_in_months") is None:
            raise ValidationError("Repeating needs its number of months, 1 to 94.", "durationInMonths")
        if (body.get("commission_type") is None) != (body.get("commission_value") is None):
            missing = "commissionType" if body.get("commission_type") is None else "commissionValue"
            raise ValidationError("commissionType and commissionValue must be sent together.", missing)

    @post_load
    def _settle_on_columns(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        is_repeating = body["duration"] == DiscountDuration.Repeating
        return {
            "name": body["name"].strip(),
            "discount_type": body["discount_type"],
            "discount_value": body["discount_value"],
            "discount_currency": discount.currency_of(body),
            "duration": body["duration"],
            "duration_in_months": body["duration_in_months"] if is_repeating else None,
            "max_redemptions_per_code": body.get("max_redemptions_per_code"),
            "expires_at": body.get("expires_at"),
            "product_refs": tuple(dict.fromkeys(ref.strip() for ref in body.get("product_refs") or ())),
            "commission_type": body.get("commission_type"),
            "commission_value": body.get("commission_value"),
            "self_mint_mode": _mode(body) or SelfMintMode.Disabled.value,
            "granted_affiliate_ids": body.get("granted_affiliate_ids") or [],
            "max_codes_per_affiliate": body.get("max_codes_per_affiliate") or None,
            "overrides_click_attribution": body.get("overrides_click_attribution") is not False,
        }


# The discount and the commission never change; sending the same values again is allowed.
_NEVER_CHANGES = (
    "discount_type",
    "discount_value",
    "discount_currency",
    "duration",
    "duration_in_months",
    "max_redemptions_per_code",
    "expires_at",
    "product_refs",
    "commission_type",
    "commission_value",
)


class CampaignCouponChanges(_Written):
    """Changes of a coupon. Loads to columns by name, only those that were sent. `fixed` are those that never change."""

    name = line(longest=200, validate=[not_blank])
    discount_type = fields.Raw(allow_none=True)
    discount_value = fields.Raw(allow_none=True)
    discount_currency = fields.Raw(allow_none=True)
    duration = fields.Raw(allow_none=True)
    duration_in_months = fields.Raw(allow_none=True)
    max_redemptions_per_code = fields.Raw(allow_none=True)
    expires_at = fields.Raw(allow_none=True)
    product_refs = fields.Raw(allow_none=True)
    commission_type = fields.Raw(allow_none=True)
    commission_value = fields.Raw(allow_none=True)

    @post_load
    def _settle_on_columns(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        fixed = {name: body.pop(name) for name in _NEVER_CHANGES if name in body}
        mode = _mode(body)
        changes = {name: value for name, value in body.items() if value is not None and name in _CHANGEABLE}
        if mode is not None:
            changes["self_mint_mode"] = mode
        if "name" in changes:
            changes["name"] = changes["name"].strip()
        if "max_codes_per_affiliate" in body:
            changes["max_codes_per_affiliate"] = body["max_codes_per_affiliate"] or None
        return {"changes": changes, "fixed": fixed}


_CHANGEABLE = ("name", "granted_affiliate_ids", "overrides_click_attribution")


def _mode(body: dict[str, Any]) -> str | None:
    """Return the requested mode, by its own field or by the older one."""
    if body.get("self_mint_mode") is not None:
        return str(body["self_mint_mode"])
    if body.get("allow_affiliate_self_mint") is None:
        return None
    return (SelfMintMode.AllAffiliates if body["allow_affiliate_self_mint"] else SelfMintMode.Disabled).value


class CouponArchive(Wire):
    """The progress of ending an archived coupon's codes at the gateway."""

    pending = fields.Integer()


class CampaignCouponRecord(Wire):
    """A campaign coupon with its discount."""

    id = fields.UUID()
    program_id = fields.UUID()
    name = fields.String()
    discount_type = one_of(DiscountType)
    discount_value = fields.Integer()
    discount_currency = fields.String(allow_none=True)
    duration = one_of(DiscountDuration)
    duration_in_months = fields.Integer(allow_none=True)
    max_redemptions_per_code = fields.Integer(allow_none=True)
    expires_at = Instant(allow_none=True)
    self_mint_mode = one_of(SelfMintMode)
    allow_affiliate_self_mint = fields.Boolean()
    granted_affiliate_ids = fields.List(fields.UUID())
    max_codes_per_affiliate = fields.Integer(allow_none=True)
    overrides_click_attribution = fields.Boolean()
    product_refs = fields.List(fields.String())
    commission_type = one_of(CommissionType, allow_none=True)
    commission_value = Amount(allow_none=True)
    processor = one_of(Gateway)
    processor_coupon_id = fields.String(allow_none=True)
    minted_code_count = fields.Integer()
    is_active = fields.Boolean()
    archive = fields.Nested(CouponArchive(), allow_none=True)
    created_by = fields.UUID(allow_none=True)
    created_at = Instant()
    updated_at = Instant()
    archived_at = Instant(allow_none=True)


class CouponsQuery(PageQuery):
    """The list of coupons of all campaigns, or of one."""

    program_id = fields.UUID(load_default=None)


class PickQuery(PageQuery):
    """The page, and the coupon whose grants are requested."""

    coupon_id = fields.UUID(load_default=None)


class PickableAffiliateRecord(Wire):
    """An approved affiliate for the allow-list; the last two fields are of the requested coupon."""

    id = fields.UUID()
    email = fields.String()
    full_name = fields.String()
    is_granted = fields.Boolean(metadata=MAY_LACK)
    minted_code_count = fields.Integer(metadata=MAY_LACK)
