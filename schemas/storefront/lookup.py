"""The public storefront on the wire.

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
    """What the brand says on the campaign's landing page; empty while it says nothing of its own."""

    all_may_lack = True

    hero_image_url = fields.String(allow_none=True)


class StorefrontProgram(Wire):
    """A campaign as anybody may see it; of the organization nothing but its name, its words and its pictures.

    For a slug that the campaign had before it is `redirect` and `campaign`, the slug that it has now, and nothing else.
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
    """What a verified custom domain stands for."""

    handle = fields.String()
    slug = fields.String()


class DomainQuery(Wire):
    """The host that a visitor came to."""

    host = text(shortest=1, longest=65_536, required=True)


_PROGRAM = StorefrontProgram()


def landing_record(landing: Any, *, base_url: str) -> Mapping[str, Any]:
    """Return a campaign as the storefront shows it. `base_url` is where this service is reached."""
    shown: dict[str, Any] = _PROGRAM.dump(landing)
    page = shown["landingPageConfig"] or {}
    return shown | {
        "landingPageConfig": page and page | {"heroImageUrl": _file_url(page["heroImageId"], base_url)},
        "applicationForm": application_form.first_step(landing.application_form),
        "logoUrl": _file_url(landing.logo_file_id, base_url),
        "faviconUrl": _file_url(landing.favicon_file_id, base_url),
    }


def _file_url(file_id: object, base_url: str) -> str | None:
    return f"{base_url}/api/brand-files/{file_id}" if file_id else None
