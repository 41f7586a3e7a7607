"""The signed-in affiliate, their brands and their programs, in the API."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from marshmallow import fields

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.payouts import cadence
from domain.payouts.cadence import Cadence
from domain.programs import application_form, terms_text
from domain.programs.terms_text import DescribedTerms
from schemas.base import Amount, Instant, Wire, one_of
from schemas.programs.application_form import ApplicationFormRecord


class MinPayoutRecord(Wire):
    """The amount from which a brand pays, in minor units of its currency."""

    amount_cents = fields.Integer()
    currency = fields.String()


class OwnBrandRecord(Wire):
    """A brand that the affiliate works for, with its name, colour and logo, and when it pays next."""

    organization_id = fields.UUID(attribute="id")
    name = fields.String()
    primary_brand_color = fields.String(allow_none=True)
    logo_url = fields.String(allow_none=True)
    timezone = fields.String()
    payout_cadence = one_of(Cadence)
    next_payout_on = fields.Date(allow_none=True)
    min_payouts = fields.List(fields.Nested(MinPayoutRecord))


class OwnAccountRecord(Wire):
    """The affiliate's account, and the brands that they work for."""

    id = fields.UUID()
    email = fields.String()
    brands = fields.List(fields.Nested(OwnBrandRecord))


class _ProgramTerms(Wire):
    """A program of a brand and its terms; `terms` explains them in sentences."""

    program_id = fields.UUID()
    organization_id = fields.UUID()
    organization_name = fields.String()
    name = fields.String()
    description = fields.String(allow_none=True)
    terms_url = fields.String(allow_none=True)
    default_commission_model = one_of(statuses.CommissionModel, attribute="model")
    commission_type = one_of(CommissionType, attribute="rate_type")
    commission_value = Amount(attribute="rate_value")
    recurring_months = fields.Integer(allow_none=True)
    recurring_delay_invoices = fields.Integer()
    cookie_window_days = fields.Integer()
    hold_days = fields.Integer()
    terms = fields.String()


class OwnProgramRecord(_ProgramTerms):
    """A program that the affiliate is in, or has applied to, with the rate that applies to them."""

    affiliate_id = fields.UUID()
    status = one_of(statuses.AffiliateStatus)
    slug = fields.String(allow_none=True)
    joined_at = Instant()
    is_open = fields.Boolean()
    rate_source = one_of(("affiliate", "group", "program"))
    recruiting_percent = Amount(allow_none=True)


class ProgramOfferRecord(_ProgramTerms):
    """An open program of a brand that the affiliate works for, which they have not joined."""

    auto_approve = fields.Boolean()
    application_form = fields.Nested(ApplicationFormRecord, allow_none=True)


_BRAND = OwnBrandRecord(exclude=("logo_url", "next_payout_on"))
_JOINED = OwnProgramRecord(exclude=("terms", "recruiting_percent"))
_OFFER = ProgramOfferRecord(exclude=("terms", "application_form"))
_PERCENT = Amount()


def account_record(
    *, account_id: object, email: str, brands: Iterable[Any], base_url: str, now: datetime
) -> dict[str, Any]:
    """Return an account as the API shows it. `base_url` is the public URL of this service."""
    brand_records = [
        _BRAND.dump(brand)
        | {
            "logoUrl": f"{base_url}/api/brand-files/{brand.logo_file_id}" if brand.logo_file_id else None,
            "nextPayoutOn": _next_payout_on(brand, now),
        }
        for brand in brands
    ]
    return {"id": str(account_id), "email": email, "brands": brand_records}


def _next_payout_on(brand: Any, now: datetime) -> str | None:
    if brand.cadence_since is None:
        return None
    day = cadence.next_day(
        Cadence(brand.payout_cadence),
        since=brand.cadence_since,
        today=cadence.local_day(brand.timezone, now),
        done=brand.last_proposed_on,
    )
    return day.isoformat() if day else None


def joined_records(programs: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the programs of an affiliate as the API shows them."""
    return [
        _JOINED.dump(program)
        | {
            "terms": terms_of(program),
            "recruitingPercent": _PERCENT.render(program.recruit_percent) if program.recruits else None,
        }
        for program in programs
    ]


def offer_records(programs: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the programs that an affiliate may apply to as the API shows them."""
    return [
        _OFFER.dump(program)
        | {"terms": terms_of(program), "applicationForm": application_form.first_step(program.application_form)}
        for program in programs
    ]


def terms_of(program: Any) -> str:
    """Return the terms of a program in sentences; it is a row of `models.affiliates.memberships`."""
    terms: DescribedTerms = program  # its columns have these names
    return terms_text.describe(terms)
