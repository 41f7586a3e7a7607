"""Leads that a brand's own server sends.

Source: tracking spec, "Lead body", "Lead" and section 7 "Errors".
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import slugs, statuses
from domain.refusals import Refused
from models.leads import rows
from models.leads.rows import LeadReferral
from pipelines.leads import lifecycle
from pipelines.leads.lifecycle import LeadReceipt, NewLead


def record(*, organization_id: UUID, lead: Mapping[str, Any], is_test: bool, now: datetime) -> LeadReceipt:
    """Record a validated lead once; `lead` is `schemas.leads.lead.LeadBody` loaded.

    A duplicate is recognised before its affiliate is checked, so that a retry never turns into an error. Nothing is
    written for a refused lead: unlike a sale it carries no money.
    Raises Refused: affiliate_not_found, no_active_program, affiliate_not_active.
    Budget: 3 round trips (look up; insert; writes and commit).
    """
    result = rows.look_up(
        organization_id=organization_id,
        external_event_id=lead["external_event_id"],
        slug=lead["affiliate_slug"],
        tokens=slugs.list_spellings(lead["affiliate_slug"]),
        program_id=lead["program_id"],
    )
    if result.known_lead_id is not None:
        return LeadReceipt(None)
    referral = _check_creditable(result.referral)
    signup = NewLead(
        email=lead["email"],
        name=lead["name"],
        occurred_at=now,
        is_test=is_test or referral.is_test_affiliate,
        external_event_id=lead["external_event_id"],
        sub_id=lead["sub_id"],
    )
    return lifecycle.record(organization_id=organization_id, referral=referral, signup=signup, now=now)


def _check_creditable(referral: LeadReferral | None) -> LeadReferral:
    if referral is None:
        message = (
            "There is no tracking link with this affiliateSlug in the organization, or in the program of programId."
        )
        raise Refused(400, "affiliate_not_found", message, field="affiliateSlug")
    if not referral.is_program_open:
        raise Refused(400, "no_active_program", "The affiliate's program is inactive, archived or suspended.")
    if referral.affiliate_status != statuses.AffiliateStatus.Approved:
        message = f"The affiliate is {referral.affiliate_status}, not Approved; nothing is recorded."
        raise Refused(400, "affiliate_not_active", message, field="affiliateSlug")
    return referral
