"""Conversions in the API.

Source: core spec, "Conversion". `commissionCents` is what the affiliate still earns; the reversed part is separate.
"""

from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain import statuses
from domain.clicks import subid
from domain.conversions.orders import ConversionOrder
from domain.conversions.refund import RefundOrigin
from schemas.base import MAY_LACK, Amount, Instant, Wire, one_of, text
from schemas.paging import PageQuery

_UNTAGGED = "untagged"


class _Filters(Wire):
    """The filters of a list and its order. Loads to `filters`, with the names of
    `models.conversions.lists.ConversionFilters`, and to `order`.
    """

    affiliate_id = fields.UUID(load_default=None)
    program_id = fields.UUID(load_default=None)
    status = one_of(statuses.ConversionStatus, load_default=None)
    kind = one_of(("sale", "lead", "click"), load_default=None)
    since = Instant(load_default=None)
    until = Instant(load_default=None)
    sub_id = text(longest=1024, load_default=None)
    q = text(longest=512, load_default=None)
    sort = one_of(ConversionOrder, load_default=ConversionOrder.newest)

    @post_load
    def _settle(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        sub_id = query.pop("sub_id")
        tag = None if sub_id == _UNTAGGED else subid.normalize(sub_id)
        if sub_id and sub_id != _UNTAGGED and tag is None:
            raise ValidationError("It has no character that a tag can contain.", "subId")
        sought = (query.pop("q") or "").strip() or None
        order = ConversionOrder(query.pop("sort"))
        if order == ConversionOrder.payable and query["status"] != statuses.ConversionStatus.Pending:
            raise ValidationError("Only Pending conversions become payable. Filter by that status as well.", "sort")
        paging = {name: query.pop(name) for name in ("take", "cursor") if name in query}
        filters = query | {"sub_id": tag, "untagged": sub_id == _UNTAGGED, "sought": sought}
        return paging | {"filters": filters, "order": order}


class ConversionsQuery(_Filters, PageQuery):
    """The filters and the order of the list. Loads to `take`, `cursor`, `filters` and `order`."""


class ExportQuery(_Filters):
    """The filters and the order of the export, as of the list. Loads to `filters` and `order`."""


class ConversionRecord(Wire):
    """A conversion. Names of its affiliate and program are only in responses of reading operations."""

    id = fields.UUID()
    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    amount_cents = fields.Integer()
    currency = fields.String()
    commission_cents = fields.Integer(attribute="net_commission_cents")
    original_commission_cents = fields.Integer(attribute="commission_cents")
    commission_reversed_cents = fields.Integer(attribute="reversed_cents")
    refunded_amount_cents = fields.Integer(attribute="refunded_cents")
    status = one_of(statuses.ConversionStatus)
    type = one_of(statuses.ConversionType)
    processor_subscription_id = fields.String(allow_none=True)
    processor_customer_id = fields.String(allow_none=True)
    external_event_id = fields.String()
    created_at = Instant()
    occurred_at = Instant()
    refunded_at = Instant(allow_none=True)
    attribution_method = fields.String(allow_none=True)
    coupon_code = fields.String(allow_none=True)
    affiliate_coupon_id = fields.UUID(allow_none=True)
    sub_id = fields.String(allow_none=True)
    payability = one_of(statuses.Payability)
    parent_affiliate_conversion_id = fields.UUID(attribute="parent_id", allow_none=True)
    locked = fields.Boolean(attribute="payout_locked")
    is_test = fields.Boolean()
    disputed = fields.Boolean(attribute="is_disputed")
    self_referral = fields.Boolean()
    awaits_approval = fields.Boolean()
    customer_name = fields.String(allow_none=True)
    customer_avatar_url = fields.String(allow_none=True)
    payable_at = Instant(allow_none=True)
    rate_source = fields.String()
    rate_type = fields.String(allow_none=True)
    rate_value = Amount(allow_none=True)
    affiliate_name = fields.String(metadata=MAY_LACK)
    affiliate_email = fields.String(metadata=MAY_LACK)
    program_name = fields.String(metadata=MAY_LACK)
    payout_id = fields.UUID(allow_none=True, metadata=MAY_LACK)


class ConversionEventRecord(Wire):
    """One line of a conversion's history."""

    id = fields.UUID()
    event_type = fields.String()
    amount_cents = fields.Integer()
    commission_cents = fields.Integer()
    occurred_at = Instant()
    reason = fields.String(allow_none=True)
    note = fields.String(allow_none=True)
    origin = one_of(RefundOrigin, allow_none=True)


class ConversionDetail(ConversionRecord):
    """A conversion with its history."""

    events = fields.List(fields.Nested(ConversionEventRecord))


class ReviewBody(Wire):
    """The optional reason why a conversion is validated, invalidated, approved or denied."""

    reason = text(longest=1000, load_default=None, allow_none=True)
