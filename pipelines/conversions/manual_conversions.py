"""Conversions that the brand records by hand: a sale that nothing tracked, or a bonus.

They are priced, and have an event and a recruiter's share, like settled sales.
Source: core spec, "Conversions" (manual conversion).
"""

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import emails, statuses
from domain.conversions import avatars, manual_sales
from domain.conversions.customers import names
from domain.refusals import Refused, not_found
from models import ids
from models.conversions import customers, partners
from models.conversions.conversions import Conversion
from models.conversions.sale_terms import SaleTerms
from models.conversions.sales import SaleFacts
from models.gateways import payments
from models.organization import organizations
from models.programs import programs
from pipelines import earnings
from pipelines.conversions import price, settlement
from pipelines.conversions.price import Price

SOURCE = METHOD = "manual"


def create(*, organization_id: UUID, body: Mapping[str, Any], is_test: bool, now: datetime) -> Conversion:
    """Write a conversion with its ledger entry and event, and stage its override. Each call writes another one.

    `body` is `schemas.conversions.manual.ManualConversionBody` loaded.
    It counts as a payment of its customer; its own price is that of a first one.
    Raises Refused: 404 not_found for the program; 409 program_suspended, affiliate_not_approved; 400
    occurred_at_out_of_range, no_active_program, affiliate_not_in_program, test_affiliate_not_allowed,
    not_a_sale_campaign.
    """
    occurred_at = body["occurred_at"] or now
    if not manual_sales.is_possible(occurred_at, now=now):
        message = "occurredAt must not be in the future, nor more than five years ago."
        raise Refused(400, "occurred_at_out_of_range", message, field="occurredAt")
    _check_program(organization_id, body["program_id"])
    terms = _find_terms(organization_id, body)
    facts = _build_facts(organization_id, body, terms, occurred_at, is_test)
    kind = statuses.ConversionType.Bonus if body["kind"] == "bonus" else statuses.ConversionType.OneTime
    settled = settlement.build_conversion(facts, _find_price(body, facts), type=kind.value, source=SOURCE)
    email = body["customer_email"]
    conversion = dataclasses.replace(
        settled,
        attribution_method=METHOD,
        created_at=now,
        email_normalized=emails.normalize(email) if email else None,
    )
    is_sale = kind == statuses.ConversionType.OneTime
    if is_sale:
        customers.stage_count(
            names(customer_id=None, email=email, is_test=is_test),
            organization_id=organization_id,
            program_id=conversion.program_id,
            paid_at=occurred_at,
        )
    earnings.write(conversion, share=terms.recruiter_share, now=now)
    if is_sale:  # after the count, as for a gateway's payment: two at the same time wait for each other
        buyer = payments.Payer(email_normalized=conversion.email_normalized)
        payments.stage_reopening([(buyer, occurred_at)], organization_id=organization_id, is_test=is_test)
    return conversion


def _check_program(organization_id: UUID, program_id: UUID) -> None:
    program = programs.find(organization_id=organization_id, program_id=program_id)
    if program is None:
        raise not_found("program", program_id)
    if program.suspended_at:
        raise Refused(409, "program_suspended", "The program is suspended; nothing can be earned in it.")
    if program.archived_at:
        raise Refused(400, "no_active_program", "The program is archived.", field="programId")


def _find_terms(organization_id: UUID, body: Mapping[str, Any]) -> SaleTerms:
    partner = partners.find(
        organization_id=organization_id, program_id=body["program_id"], affiliate_id=body["affiliate_id"]
    )
    if partner is None:
        raise Refused(
            400, "affiliate_not_in_program", "The program has no affiliate with this id.", field="affiliateId"
        )
    if partner.is_test:
        message = "This is a test affiliate, which is never paid."
        raise Refused(400, "test_affiliate_not_allowed", message, field="affiliateId")
    if partner.status != statuses.AffiliateStatus.Approved:
        raise Refused(409, "affiliate_not_approved", f"The affiliate is {partner.status}, not Approved.")
    return partner.terms


def _build_facts(
    organization_id: UUID, body: Mapping[str, Any], terms: SaleTerms, occurred_at: datetime, is_test: bool
) -> SaleFacts:
    """Return the sale as its customer's first, paid when it occurred."""
    conversion_id = ids.new_id()
    email = body["customer_email"]
    return SaleFacts(
        sale_id=conversion_id,
        organization_id=organization_id,
        external_event_id=f"{SOURCE}:{conversion_id}",
        program_id=body["program_id"],
        affiliate_id=body["affiliate_id"],
        amount_cents=body["amount_cents"],
        currency=body["currency"] or organizations.read_home_currency(organization_id),
        customer_id=None,
        customer_name=None,
        customer_email=email,
        customer_avatar_url=avatars.url_from_email(email),
        sub_id=None,
        is_test=is_test,
        accepted_at=occurred_at,
        customer_ordinal=1,
        first_paid_at=occurred_at,
        terms=terms,
    )


def _find_price(body: Mapping[str, Any], facts: SaleFacts) -> Price:
    if body["commission_cents"] is not None:
        return Price(None, body["commission_cents"])
    if not statuses.pays_on_sale(facts.terms.commission_model) and facts.terms.sale_leg_type is None:
        message = "The program pays for clicks or leads; send commissionCents to pay for a sale."
        raise Refused(400, "not_a_sale_campaign", message, field="programId")
    return price.price_sale(facts)
