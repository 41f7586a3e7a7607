"""The public storefront in the API.

Source: tracking spec, "Public storefront program" and "Public storefront".
"""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.programs import application_form
from schemas.base import Amount, Wire, one_of, text
from schemas.programs.application_form import ApplicationFormRecord
from schemas.programs.landing_page import LandingPageRecord


class StorefrontLandingPage(LandingPageRecord):
    """The brand's contents of the campaign's landing page; empty without any."""

    all_may_lack = True

    hero_image_url = fields.String(allow_none=True)


class StorefrontProgram(Wire):
    """A public campaign; of the organization only its name, its texts and its pictures.

    For a former slug of the campaign it is only `redirect` and `campaign`, the current slug.
    """

    all_may_lack = True

    id = fields.UUID()
    organization_name = fields.String()
    name = fields.String()
    slug = fields.String()
    description = fields.String(allow_none=True)
    terms_url = fields.String(allow_none=True)
    custom_alias_supported = fields.Constant(True)
    organization_description = fields.String(allow_none=True)
    default_commission_type = one_of(CommissionType)
    default_commission_value = Amount()
    default_commission_model = one_of(statuses.CommissionModel)
    cookie_window_days = fields.Integer()
    recurring_months = fields.Integer(allow_none=True)
    attribution_model = one_of(statuses.AttributionModel)
    auto_approve = fields.Boolean()
    is_publicly_discoverable = fields.Boolean()
    landing_page_config = fields.Nested(StorefrontLandingPage)
    application_form = fields.Nested(ApplicationFormRecord, allow_none=True)
    logo_url = fields.String(allow_none=True)
    favicon_url = fields.String(allow_none=True)
    redirect = fields.Boolean()
    campaign = fields.String()


class StorefrontAddress(Wire):
    """The campaign of a verified custom domain."""

    handle = fields.String()
    slug = fields.String()


class DomainQuery(Wire):
    """The host of a visitor's request."""

    host = text(shortest=1, longest=65_536, required=True)


_PROGRAM = StorefrontProgram()


def landing_record(landing: Any, *, base_url: str) -> Mapping[str, Any]:
    """Return a campaign as the storefront shows it. `base_url` is the public URL of this service."""
    record: dict[str, Any] = _PROGRAM.dump(landing)
    page = record["landingPageConfig"] or {}
    return record | {
        "landingPageConfig": page and page | {"heroImageUrl": _file_url(page["heroImageId"], base_url)},
        "applicationForm": application_form.first_step(landing.application_form),
        "logoUrl": _file_url(landing.logo_file_id, base_url),
        "faviconUrl": _file_url(landing.favicon_file_id, base_url),
    }


def _file_url(file_id: object, base_url: str) -> str | None:
    return f"{base_url}/api/brand-files/{file_id}" if file_id else None
