"""Leads that a page of the brand sends. The sender learns nothing from the answer.

The request only stages a job; everything that depends on known people happens in two jobs. The first finds the tenant,
the second works inside it. The request contains personal data, so the jobs carry it sealed.
Source: tracking spec, "Browser lead capture".
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from adapters.secret_key import sealing
from domain import jobs, statuses
from models.clicks.public_links import Link
from pipelines import work
from pipelines.clicks import public_links
from pipelines.clicks.public_links import SlugAddress
from pipelines.leads import lifecycle, screening
from pipelines.leads.lifecycle import NewLead
from pipelines.leads.screening import PageVisit

_BELONGS_TO = "lead.capture"


def any_org_stage(*, lead: Mapping[str, Any], visitor: str, network: str, now: datetime) -> None:
    """Stage the job for a page's lead; `lead` is `schemas.leads.lead.BrowserLeadBody` loaded.

    `visitor` and `network` are keyed hashes (hex) of the sender's address, as for clicks. Every link has its own fair
    key, so that a flooded link does not delay others.
    Budget: 1 round trip.
    """
    work.enqueue(
        jobs.LEAD_CAPTURE,
        organization_id=None,
        fair_key=f"lead {lead['slug']}",
        sealed=_seal({**lead, "visitor": visitor, "network": network}),
        at=now.isoformat(),
    )


def any_org_enqueue_record(*, sealed: str, at: str) -> None:
    """Find the lead's link and stage the job that records it; drop a lead whose slug cannot earn now."""
    lead = _unseal(sealed)
    link = _find_link(lead)
    if link is None or not link.can_earn:
        return
    work.enqueue(
        jobs.LEAD_RECORD,
        organization_id=link.organization_id,
        program_id=link.program_id,
        affiliate_id=link.affiliate_id,
        window_days=link.cookie_window_days,
        sealed=sealed,
        at=at,
    )


def any_org_owner(sealed: str) -> UUID | None:
    """Return the organization of a lead; None if its slug cannot earn now, or the lead is unreadable."""
    try:
        lead = _unseal(sealed)
    except (work.NotReadable, ValueError):
        return None
    link = _find_link(lead)
    return link.organization_id if link is not None and link.can_earn else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLead:
    """A sealed lead of a page, sent at time `at`, and its affiliate. A click counts for `window_days`."""

    program_id: UUID
    affiliate_id: UUID
    sealed: str
    at: datetime
    window_days: int


def record(page_lead: PageLead, *, organization_id: UUID, now: datetime) -> None:
    """Record a lead that a page sent, unless it is known or its affiliate can no longer be credited.

    A lead that the fraud rules hold is recorded as Invalidated, with its fraud event.
    """
    lead = _unseal(page_lead.sealed)
    referral = lifecycle.find_referral(
        organization_id=organization_id, program_id=page_lead.program_id, affiliate_id=page_lead.affiliate_id
    )
    is_approved = referral is not None and referral.affiliate_status == statuses.AffiliateStatus.Approved
    if referral is None or not is_approved or not referral.is_program_open:
        return
    signup = NewLead(
        email=lead["email"],
        name=lead["name"],
        occurred_at=page_lead.at,
        is_test=referral.is_test_affiliate,
        sub_id=lead["sub_id"],
    )
    visit = PageVisit(lead["visitor"], lead["network"], page_lead.window_days)
    result = screening.screen(organization_id=organization_id, referral=referral, signup=signup, visit=visit)
    if result is None:
        return
    receipt = lifecycle.record(
        organization_id=organization_id, referral=referral, signup=signup, now=now, status=result.status
    )
    if receipt.lead_id is not None:
        screening.stage_event(
            result,
            lead_id=receipt.lead_id,
            organization_id=organization_id,
            referral=referral,
            visit=visit,
            at=page_lead.at,
        )


def _find_link(lead: Mapping[str, Any]) -> Link | None:
    return public_links.find(SlugAddress(lead["slug"], lead["program_id"], is_on_tag=True))


def _seal(lead: Mapping[str, Any]) -> str:
    return base64.b64encode(sealing.seal(orjson.dumps(lead).decode(), belongs_to=_BELONGS_TO)).decode()


def _unseal(sealed: str) -> dict[str, Any]:
    try:
        opened: dict[str, Any] = orjson.loads(sealing.unseal(base64.b64decode(sealed), belongs_to=_BELONGS_TO))
    except sealing.CannotUnseal as error:
        raise work.NotReadable(str(error)) from error
    return opened
