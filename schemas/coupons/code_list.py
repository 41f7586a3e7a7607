"""Codes of all affiliates of a brand in the API."""

from marshmallow import fields

from domain.coupons.discounts import CodeStatus
from schemas.base import one_of
from schemas.coupons.code import AffiliateCouponRecord
from schemas.paging import PageQuery


class CodesQuery(PageQuery):
    """The list of codes, optionally filtered by program, coupon, affiliate or state."""

    program_id = fields.UUID(load_default=None)
    coupon_id = fields.UUID(load_default=None)
    affiliate_id = fields.UUID(load_default=None)
    status = one_of(CodeStatus, load_default=None)


class CouponCodeRecord(AffiliateCouponRecord):
    """A code, with its affiliate and the earnings of the sales that it credited."""

    affiliate_name = fields.String()
    affiliate_email = fields.String()
    coupon_name = fields.String(allow_none=True)
    earned_by_currency = fields.Dict(keys=fields.String(), values=fields.Integer())
