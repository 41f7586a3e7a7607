"""Programs in the API.

Source: core spec, "Program" and "Program fields accepted on create or update"; tracking spec, "Sub-affiliate
recruiting". `domain.programs.terms` decides how terms affect each other.
"""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate

from domain import slugs, statuses
from domain.conversions.commission import CommissionType
from domain.listing import NetworkReview, ProgramCategory
from domain.money import money
from domain.organization import host_names
from domain.programs import terms
from domain.refusals import Refused
from schemas.base import MAY_LACK, Amount, Flag, Instant, Wire, http_url, integer, line, not_blank, one_of, rate, text
from schemas.host_proof import host_name
from schemas.paging import PageQuery, QueryFlag
from schemas.programs.application_form import ApplicationFormBody, ApplicationFormRecord
from schemas.programs.landing_page import LandingPageBody, LandingPageRecord

_CHECKOUT_DOOR_MODES = ("redirect", "email")
_MAX_URL_CHARS = 2048
_MAX_WINDOW_DAYS_CHARS = 3650
_MAX_WINDOW_MONTHS = 1200
# Of recurringMonths, in a change: no limit.
_LIFETIME = -1


def _slug(value: str) -> None:
    if not slugs.is_valid_strict(value):
        raise ValidationError("It must be 3 to 64 of a-z, 0-9 and hyphen, without a hyphen at either end.")


def _up_to(most: int, **options: Any) -> fields.Integer:
    return integer(validate=validate.Range(min=0, max=most), allow_none=True, **options)


class _Written(Wire):
    """The fields of a program that can be set and changed. In a change null clears; on creation it is the default."""

    slug = text(longest=64, allow_none=True, validate=[_slug])
    description = text(longest=10_000, allow_none=True)
    terms_url = text(longest=_MAX_URL_CHARS, allow_none=True, validate=[http_url])
    sale_commission_type = one_of(CommissionType, allow_none=True)
    sale_commission_value = rate(allow_none=True)
    cookie_window_days = integer(validate=validate.Range(min=1, max=_MAX_WINDOW_DAYS_CHARS), allow_none=True)
    recurring_delay_invoices = _up_to(_MAX_WINDOW_MONTHS)
    attribution_model = one_of(statuses.AttributionModel, allow_none=True)
    auto_approve = Flag(allow_none=True)
    network_visibility = one_of(statuses.NetworkVisibility, allow_none=True)
    is_publicly_discoverable = Flag(allow_none=True)
    budget_cents = integer(allow_none=True)
    referral_destination_url = text(longest=_MAX_URL_CHARS, allow_none=True, validate=[http_url])
    min_payout_cents = _up_to(money.MAX_AMOUNT_CENTS)
    hosted_checkout_door_enabled = Flag(allow_none=True)
    hosted_checkout_door_mode = fields.Raw(allow_none=True)
    hosted_checkout_thank_you_url = fields.Raw(allow_none=True)
    lead_bounty_cents = integer(allow_none=True)
    click_reward_cents = integer(allow_none=True)
    is_primary = Flag(allow_none=True)
    category = one_of(ProgramCategory, allow_none=True)
    application_form = fields.Nested(ApplicationFormBody, allow_none=True)
    landing_page_config = fields.Nested(LandingPageBody, allow_none=True)


class ProgramBody(_Written):
    """A new program. Loads to columns by name, without missing fields and nulls.

    Refuses with the spec's own codes: invalid_hosted_checkout_door_mode, invalid_hosted_checkout_thank_you_url.
    """

    name = line(longest=200, required=True, validate=[not_blank])
    default_commission_type = one_of(CommissionType, required=True)
    default_commission_value = rate(required=True)
    default_commission_model = one_of(terms.OFFERED_MODELS, allow_none=True)
    recurring_months = _up_to(_MAX_WINDOW_MONTHS)

    @post_load
    def _settle_on_columns(self, program: dict[str, Any], **_: object) -> dict[str, Any]:
        columns = {name: value for name, value in program.items() if value is not None}
        columns["name"] = columns["name"].strip()
        columns.setdefault("default_commission_model", statuses.CommissionModel.Cps.value)
        if "hosted_checkout_door_mode" in columns:
            _check_door_mode(columns["hosted_checkout_door_mode"])
        if not _thank_you_url(columns.get("hosted_checkout_thank_you_url")):
            columns.pop("hosted_checkout_thank_you_url", None)
        return columns


# Required columns cannot be cleared.
_NEVER_NULL = {
    "slug",
    "cookie_window_days",
    "recurring_delay_invoices",
    "attribution_model",
    "auto_approve",
    "network_visibility",
    "is_publicly_discoverable",
    "hosted_checkout_door_enabled",
    "is_primary",
}


class ProgramChanges(_Written):
    """Changes of a program. Loads to columns by name, without missing fields; None clears.

    Refuses with the spec's own codes: invalid_hosted_checkout_door_mode, invalid_hosted_checkout_thank_you_url.
    """

    name = line(longest=200, validate=[not_blank])
    default_commission_type = one_of(CommissionType)
    default_commission_value = rate()
    default_commission_model = one_of(statuses.CommissionModel)
    recurring_months = integer(validate=validate.Range(min=_LIFETIME, max=_MAX_WINDOW_MONTHS), allow_none=True)
    is_active = Flag()
    custom_domain = text(longest=host_names.MAX_CHARS, allow_none=True, validate=[host_name])

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        super().on_bind_field(field_name, field_obj)
        if field_name in _NEVER_NULL:
            field_obj.allow_none = False

    @post_load
    def _settle_on_columns(self, changes: dict[str, Any], **_: object) -> dict[str, Any]:
        if "name" in changes:
            changes["name"] = changes["name"].strip()
        if changes.get("recurring_months") == _LIFETIME:
            changes["recurring_months"] = None
        if changes.get("custom_domain"):
            changes["custom_domain"] = changes["custom_domain"].lower()
        if "hosted_checkout_door_mode" in changes:
            _check_door_mode(changes["hosted_checkout_door_mode"])
        if "hosted_checkout_thank_you_url" in changes:
            changes["hosted_checkout_thank_you_url"] = _thank_you_url(changes["hosted_checkout_thank_you_url"])
        return changes


def _check_door_mode(mode: object) -> None:
    if mode not in _CHECKOUT_DOOR_MODES:
        raise Refused(
            400,
            "invalid_hosted_checkout_door_mode",
            f"hostedCheckoutDoorMode must be one of: {', '.join(_CHECKOUT_DOOR_MODES)}.",
            field="hostedCheckoutDoorMode",
        )


def _thank_you_url(value: object) -> str | None:
    if value is None or value == "":
        return None
    try:
        url: str = text(longest=_MAX_URL_CHARS, validate=[http_url]).deserialize(value)
    except ValidationError as error:
        raise Refused(
            400,
            "invalid_hosted_checkout_thank_you_url",
            f"hostedCheckoutThankYouUrl must be an http(s) URL of at most {_MAX_URL_CHARS} characters, or empty.",
            field="hostedCheckoutThankYouUrl",
        ) from error
    return url


class NetworkReviewRecord(Wire):
    """The operator's review of a listing in the network; only a rejection always has a `reason`."""

    status = one_of(NetworkReview)
    reason = fields.String(allow_none=True)
    decided_at = Instant(allow_none=True)


class ProgramWarning(Wire):
    """A term that is set but has no effect now."""

    code = one_of(("paid_leads_off",))
    field = fields.String()
    message = fields.String()


class ProgramRecord(Wire):
    """A program as the API shows it: the spec's fields and those of its write table.

    Each amount has a field for the currency that it was set in, null without the amount; `feeCurrency` is that of a fee
    per click or lead.
    """

    id = fields.UUID()
    name = fields.String()
    slug = fields.String()
    description = fields.String(allow_none=True)
    terms_url = fields.String(allow_none=True)
    is_active = fields.Boolean()
    default_commission_type = one_of(CommissionType)
    default_commission_value = Amount()
    fee_currency = fields.String(allow_none=True)
    default_commission_model = one_of(statuses.CommissionModel)
    sale_commission_type = one_of(CommissionType, allow_none=True)
    sale_commission_value = Amount(allow_none=True)
    cookie_window_days = fields.Integer()
    recurring_months = fields.Integer(allow_none=True)
    recurring_delay_invoices = fields.Integer()
    attribution_model = one_of(statuses.AttributionModel)
    auto_approve = fields.Boolean()
    custom_domain = fields.String(allow_none=True)
    custom_domain_verified = fields.Boolean()
    network_visibility = one_of(statuses.NetworkVisibility)
    network_review = fields.Nested(NetworkReviewRecord(), attribute="listing_review", allow_none=True)
    category = one_of(ProgramCategory, allow_none=True)
    is_publicly_discoverable = fields.Boolean()
    budget_cents = fields.Integer(allow_none=True)
    budget_currency = fields.String(allow_none=True)
    referral_destination_url = fields.String(allow_none=True)
    min_payout_cents = fields.Integer(allow_none=True)
    min_payout_currency = fields.String(allow_none=True)
    hosted_checkout_door_enabled = fields.Boolean()
    hosted_checkout_door_mode = one_of(_CHECKOUT_DOOR_MODES)
    hosted_checkout_thank_you_url = fields.String(allow_none=True)
    lead_bounty_cents = fields.Integer(allow_none=True)
    lead_bounty_currency = fields.String(allow_none=True)
    click_reward_cents = fields.Integer(allow_none=True)
    click_reward_currency = fields.String(allow_none=True)
    is_primary = fields.Boolean()
    application_form = fields.Nested(ApplicationFormRecord, allow_none=True)
    landing_page_config = fields.Nested(LandingPageRecord, allow_none=True)
    created_at = Instant()
    updated_at = Instant()
    archived_at = Instant(allow_none=True)
    warnings = fields.List(fields.Nested(ProgramWarning), metadata=MAY_LACK)


class ProgramsQuery(PageQuery):
    """The list of programs; archived ones on request."""

    include_archived = QueryFlag(load_default=False)
