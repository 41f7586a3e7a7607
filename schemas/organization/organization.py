"""The organization's profile and its images in the API. Source: core spec, "Other resources" (profile)."""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate

from domain import slugs
from domain.attribution.self_referrals import SelfReferralPolicy
from domain.gateways.basis import CommissionBasis
from domain.money import money
from domain.organization import plans, time_zones
from domain.payouts.cadence import Cadence
from schemas.base import Email, Flag, Instant, Wire, color, from_base64, integer, line, not_blank, one_of, text

_IMAGE_KINDS = ("logo", "favicon")
_MAX_GRACE_DAYS = 365


def _subdomain(value: str) -> None:
    if not slugs.is_valid_strict(value):
        raise ValidationError("It must be 3 to 63 of a-z, 0-9 and hyphen, without a hyphen at either end.")


def _timezone(value: str) -> None:
    if not time_zones.is_known(value):
        raise ValidationError("It must be a time zone of the IANA database, such as Europe/Berlin.")


class ProfileChanges(Wire):
    """Changes of the profile: sent fields are set, null clears optional ones. Unknown fields are ignored."""

    name = line(longest=200, validate=[not_blank])
    # A label of a host name, so one character shorter than other slugs.
    subdomain = text(longest=63, validate=[_subdomain])
    billing_email = Email(allow_none=True)
    timezone = text(longest=100, validate=[_timezone])
    primary_brand_color = color(allow_none=True)
    description = text(longest=5000, allow_none=True)
    industry_category = line(longest=100, allow_none=True)
    payout_grace_days = integer(validate=validate.Range(min=0, max=_MAX_GRACE_DAYS))
    automatic_payout_enabled = Flag()
    automatic_payout_cadence = one_of(tuple(Cadence))
    min_payout_cents = integer(validate=validate.Range(min=0, max=money.MAX_AMOUNT_CENTS), allow_none=True)
    white_label_enabled = Flag()
    commission_basis = one_of(tuple(CommissionBasis))
    self_referrals = one_of(tuple(SelfReferralPolicy))
    require_second_factor = Flag()
    large_sale_cents = integer(validate=validate.Range(min=1, max=money.MAX_AMOUNT_CENTS), allow_none=True)

    @post_load
    def _settle(self, changes: dict[str, Any], **_: object) -> dict[str, Any]:
        if "name" in changes:
            changes["name"] = changes["name"].strip()
        if changes.get("primary_brand_color"):
            changes["primary_brand_color"] = changes["primary_brand_color"].lower()
        return changes


class OrganizationProfileRecord(Wire):
    """The profile. The minimum payout and the large sale have the home currency of the time when they were set."""

    id = fields.UUID()
    name = fields.String()
    slug = fields.String()
    subdomain = fields.String(allow_none=True)
    subdomain_change_count = fields.Integer()
    subdomain_changes_max = fields.Integer()
    billing_email = fields.String(allow_none=True)
    timezone = fields.String()
    primary_brand_color = fields.String(allow_none=True)
    logo_url = fields.String(allow_none=True)
    favicon_url = fields.String(allow_none=True)
    description = fields.String(allow_none=True)
    industry_category = fields.String(allow_none=True)
    white_label_enabled = fields.Boolean()
    plan_tier = one_of(plans.Tier)
    subscription_status = one_of(plans.SubscriptionStatus)
    trial_ends_at = Instant(allow_none=True)
    home_currency = fields.String()
    payout_grace_days = fields.Integer()
    payout_grace_days_max = fields.Integer()
    automatic_payout_enabled = fields.Boolean()
    automatic_payout_cadence = one_of(tuple(Cadence))
    min_payout_cents = fields.Integer(allow_none=True)
    min_payout_currency = fields.String(allow_none=True)
    last_automatic_payout_at = Instant(allow_none=True)
    custom_attribution_params = fields.String(allow_none=True)
    default_attribution_params = fields.List(fields.String())
    effective_attribution_params = fields.List(fields.String())
    commission_basis = one_of(tuple(CommissionBasis))
    self_referrals = one_of(tuple(SelfReferralPolicy))
    require_second_factor = fields.Boolean()
    large_sale_cents = fields.Integer(allow_none=True)
    large_sale_currency = fields.String(allow_none=True)
    max_custom_attribution_params = fields.Integer()
    max_attribution_params_chars = fields.Integer()
    created_at = Instant()


class ImageQuery(Wire):
    """The kind of the image: the logo, or the favicon."""

    kind = one_of(_IMAGE_KINDS, load_default="logo")


class ImageBody(Wire):
    """An image in standard base64 in a JSON body; `contentType` is optional. Loads to `content` in bytes."""

    data_base64 = fields.String(required=True)
    content_type = text(longest=100, load_default=None, allow_none=True)

    @post_load
    def _settle(self, image: dict[str, Any], **_: object) -> dict[str, Any]:
        return image | {"content": from_base64(image.pop("data_base64"), "dataBase64")}
