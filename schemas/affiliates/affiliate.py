"""Affiliates and their links in the API.

Source: core spec, "Affiliate" (what a key never sees: the application, auth ids, payout accounts).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from domain import links, slugs, statuses
from domain.affiliates import orders
from domain.conversions.commission import CommissionType
from schemas.affiliates.balance import BalanceRecord
from schemas.affiliates.totals import AffiliateTotalsRecord
from schemas.base import MAY_LACK, ONE_LINE, Amount, Email, Instant, Wire, line, one_of, rate, text
from schemas.collection_fields import Items
from schemas.paging import MAX_SKIP, QueryFlag, QueryInteger, SkippingPageQuery

_MAX_TAGS = 50
_MAX_TAG_CHARS = 50
_CLEARED_BY_NULL = ("custom_commission_type", "custom_commission_value", "partner_group_id")
_PAIR = "customCommissionType and customCommissionValue must be sent together."
_NO_TYPE = "The affiliate has no customCommissionType yet. Send it together with customCommissionValue."

_MAX_DAYS = 3650
_NEEDS_ORDER = "noSalesForDays needs sort=lastSale or sort=-lastSale."

#: The refusals of an affiliate's own rate.
RATE_REFUSALS = (
    "400 invalid_commission_type",
    "400 percentage_out_of_range",
    "400 unit_fee_out_of_range",
    "400 fixed_commission_out_of_range",
)


def alias() -> fields.String:
    """Return the field of a slug chosen by the affiliate or the brand; an empty one means none.

    Digits alone are refused with 400 slug_reserved.
    """
    return text(longest=64, load_default=None, allow_none=True, data_key="customAlias", validate=[_alias])


def _alias(value: str) -> None:
    if value and not slugs.is_valid(value):
        raise ValidationError("It must be 3 to 64 of a-z, 0-9 and hyphen.")
    if value in slugs.RESERVED:
        raise ValidationError("This word is reserved.")
    if slugs.is_reserved(value):
        raise slugs.refuse_reserved(value, field="customAlias")


def _check_rate_pair(body: dict[str, Any]) -> None:
    is_type_missing, is_value_missing = (
        body.get(name) is None for name in ("custom_commission_type", "custom_commission_value")
    )
    if is_type_missing != is_value_missing:
        raise ValidationError(_PAIR, "customCommissionType" if is_type_missing else "customCommissionValue")


class Tag(fields.String):
    """A tag chosen by the brand, loaded trimmed."""

    def __init__(self) -> None:
        super().__init__(validate=[ONE_LINE])

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        tag = str(super()._deserialize(value, *args, **kwargs)).strip()
        if not 1 <= len(tag) <= _MAX_TAG_CHARS:
            raise ValidationError(f"A tag has 1 to {_MAX_TAG_CHARS} characters.")
        return tag


class AffiliateBody(Wire):
    """A new affiliate. Loads to columns by name, and `alias`."""

    program_id = fields.UUID(required=True)
    email = Email(required=True)
    full_name = line(longest=200, load_default="", allow_none=True)
    status = one_of(statuses.AffiliateStatus, load_default=None, allow_none=True)
    custom_commission_type = one_of(CommissionType, load_default=None, allow_none=True)
    custom_commission_value = rate(load_default=None, allow_none=True)
    alias = alias()

    @validates_schema
    def _check_pair(self, body: dict[str, Any], **_: object) -> None:
        _check_rate_pair(body)

    @post_load
    def _fill(self, affiliate: dict[str, Any], **_: object) -> dict[str, Any]:
        affiliate["full_name"] = (affiliate["full_name"] or "").strip()
        affiliate["status"] = affiliate["status"] or statuses.AffiliateStatus.Approved.value
        affiliate["alias"] = affiliate["alias"] or None
        return affiliate


class AffiliateChanges(Wire):
    """Changes of an affiliate. Loads to the columns that were body; null leaves them, where it does not clear them.

    A customCommissionValue alone is the new value of the type that the affiliate has.
    """

    full_name = line(longest=200, allow_none=True)
    status = one_of(statuses.AffiliateStatus, allow_none=True)
    custom_commission_type = one_of(CommissionType, allow_none=True)
    custom_commission_value = rate(allow_none=True)
    notes = text(longest=10_000, allow_none=True)
    tags = Items(Tag(), most=_MAX_TAGS, allow_none=True)
    partner_group_id = fields.UUID(allow_none=True)

    @validates_schema
    def _check_pair(self, body: dict[str, Any], **_: object) -> None:
        if "custom_commission_type" not in body and body.get("custom_commission_value") is not None:
            return  # the type stays the affiliate's current one
        if ("custom_commission_type" in body) != ("custom_commission_value" in body):
            missing = "customCommissionValue" if "custom_commission_type" in body else "customCommissionType"
            raise ValidationError(_PAIR, missing)
        _check_rate_pair(body)

    @post_load
    def _keep_what_changes(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        changes = {name: value for name, value in body.items() if value is not None or name in _CLEARED_BY_NULL}
        if "full_name" in changes:
            changes["full_name"] = changes["full_name"].strip()
        if "tags" in changes:
            changes["tags"] = tuple(dict.fromkeys(changes["tags"]))
        return changes


def with_stored_type(changes: Mapping[str, Any], *, stored_type: str | None) -> dict[str, Any]:
    """Return changes with the stored type for a customCommissionValue that was sent alone.

    Raises ValidationError if the affiliate has no type.
    """
    if "custom_commission_value" not in changes or "custom_commission_type" in changes:
        return dict(changes)
    if stored_type is None:
        raise ValidationError(_NO_TYPE, "customCommissionType")
    return {**changes, "custom_commission_type": stored_type}


class Rejection(Wire):
    """The reason for rejecting an application, for the brand's own records."""

    reason = text(longest=1000, load_default=None, allow_none=True)


class Nothing(Wire):
    """An empty object."""


class AffiliateLinkRecord(Wire):
    """A tracking link; `url` is what the affiliate shares."""

    id = fields.UUID()
    affiliate_id = fields.UUID()
    slug = fields.String()
    custom_alias = fields.String(allow_none=True)
    is_default = fields.Boolean()
    format = one_of(statuses.LinkFormat)
    url = fields.String()
    created_at = Instant()


class AffiliateRecord(Wire):
    """An affiliate with `links`, on request with `totals`, in lists with `balances`, and alone with `oldTokens`
    if there are any.

    People at the dashboard also see `applicationData`, API keys never do.
    """

    id = fields.UUID()
    program_id = fields.UUID()
    email = fields.String()
    full_name = fields.String()
    status = one_of(statuses.AffiliateStatus)
    custom_commission_type = one_of(CommissionType, allow_none=True)
    custom_commission_value = Amount(allow_none=True)
    partner_group_id = fields.UUID(allow_none=True)
    tags = fields.List(fields.String())
    notes = fields.String()
    source = one_of(statuses.AffiliateSource)
    rejection_reason = fields.String(allow_none=True)
    is_test = fields.Boolean()
    applied_at = Instant()
    approved_at = Instant(allow_none=True)
    created_at = Instant()
    application_data = fields.Dict(keys=fields.String(), values=fields.Raw(), allow_none=True, metadata=MAY_LACK)
    balances = fields.List(fields.Nested(BalanceRecord), metadata=MAY_LACK)
    totals = fields.Nested(AffiliateTotalsRecord, metadata=MAY_LACK)
    links = fields.List(fields.Nested(AffiliateLinkRecord))
    old_tokens = fields.List(fields.String(), metadata=MAY_LACK)


class AffiliateQuery(Wire):
    """One affiliate, on request with the totals."""

    totals = QueryFlag(load_default=False)


class AffiliateFilterQuery(Wire):
    """Affiliates in one of their orders, optionally filtered by program, status, text or last sale.

    A `-` before an order is the highest first.
    """

    program_id = fields.UUID(load_default=None)
    status = one_of(statuses.AffiliateStatus, load_default=None)
    q = text(longest=200, load_default=None)
    no_sales_for_days = QueryInteger(load_default=None, validate=validate.Range(min=1, max=_MAX_DAYS))
    sort = one_of(orders.ALL, load_default=orders.ALL[0])

    @validates_schema
    def _check_order(self, query: dict[str, Any], **_: object) -> None:
        if query.get("no_sales_for_days") is not None and query.get("sort") not in orders.OF_LAST_SALE:
            raise ValidationError(_NEEDS_ORDER, "noSalesForDays")

    @post_load
    def _trim(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        return {**query, "q": (query["q"] or "").strip() or None}


class AffiliatesQuery(AffiliateFilterQuery, SkippingPageQuery):
    """A page of affiliates, on request with their balances and totals."""

    balances = QueryFlag(load_default=False)
    totals = QueryFlag(load_default=False)


class ApplicationsQuery(Wire):
    """The list of applications, optionally of one program."""

    take = QueryInteger(load_default=None, validate=validate.Range(min=1))
    skip = QueryInteger(load_default=0, validate=validate.Range(max=MAX_SKIP))
    program_id = fields.UUID(load_default=None)


_FOR_DASHBOARD = AffiliateRecord(exclude=("links", "balances", "totals", "old_tokens"))
_FOR_KEY = AffiliateRecord(exclude=("links", "balances", "totals", "old_tokens", "application_data"))
_LINK = AffiliateLinkRecord(exclude=("url",))

#: The keys of affiliates that the database renders, for a person at the dashboard and for an API key, and of links.
DASHBOARD_WIRE, KEY_WIRE = _FOR_DASHBOARD.wire, _FOR_KEY.wire
LINK_WIRE = (*_LINK.wire, ("url", "url", ""))


def link_records(rows: Sequence[Any], *, base_url: str) -> list[dict[str, Any]]:
    """Return links as the API shows them. A row has the `destination_url` of its program."""
    records: list[dict[str, Any]] = _LINK.dump(rows, many=True)
    for link, record in zip(rows, records, strict=True):
        record["url"] = links.url(
            slug=link.slug,
            format=link.format,
            destination_url=link.destination_url,
            base_url=base_url,
            program_id=link.program_id,
        )
    return records


def affiliate_records(
    affiliates: Iterable[Any], link_rows: Sequence[Any], *, base_url: str, is_for_dashboard: bool = False
) -> list[dict[str, Any]]:
    """Return affiliates with their links as the API shows them, to an API key unless `is_for_dashboard`."""
    records: list[dict[str, Any]] = (_FOR_DASHBOARD if is_for_dashboard else _FOR_KEY).dump(affiliates, many=True)
    by_id: dict[str, list[dict[str, Any]]] = {record["id"]: record.setdefault("links", []) for record in records}
    for link in link_records(link_rows, base_url=base_url):
        by_id[link["affiliateId"]].append(link)
    return records
