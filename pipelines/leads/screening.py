"""Screens leads that a page sends: the fraud verdict, and the fraud event of those that are held.

Source: core spec, "Click and lead fraud review"; tracking spec, "Browser lead capture".
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain import emails, fraud
from domain.fraud import PageLeadFacts, Verdict
from domain.statuses import ConversionStatus
from models.fraud import fraud_settings
from models.leads import networks, paid_leads
from models.leads.rows import LeadReferral
from pipelines.fraud import fraud_events
from pipelines.fraud.fraud_events import HeldLead
from pipelines.leads.lifecycle import NewLead


@dataclass(frozen=True, slots=True)
class PageVisit:
    """The sender of a page's lead: keyed hashes (hex), as for clicks.

    `window_days` is how long a click counts.
    """

    visitor: str
    network: str
    window_days: int


@dataclass(frozen=True, slots=True)
class Screening:
    """The verdict on a lead, and the decision."""

    verdict: Verdict
    decision: str

    @property
    def status(self) -> ConversionStatus:
        """The status of the lead's conversion: a held one is Invalidated until the brand validates it."""
        return ConversionStatus.Pending if self.decision == "pass" else ConversionStatus.Invalidated


def screen(*, organization_id: UUID, referral: LeadReferral, signup: NewLead, visit: PageVisit) -> Screening | None:
    """Return the verdict on a lead, and count the lead for its network; None if the person is already known.

    Budget: 3 round trips (count; click; settings), 1 for a known person.
    """
    network_leads = networks.count(
        organization_id=organization_id,
        affiliate_id=referral.affiliate_id,
        network=bytes.fromhex(visit.network),
        email_normalized=emails.normalize(signup.email),
        is_test=signup.is_test,
        at=signup.occurred_at,
    )
    if network_leads is None:
        return None
    click = paid_leads.find_last_click(
        organization_id=organization_id,
        affiliate_id=referral.affiliate_id,
        visitor_hash=bytes.fromhex(visit.visitor),
        since=signup.occurred_at - timedelta(days=visit.window_days),
    )
    click_verdict = Verdict(click.score, tuple(click.reasons)) if click and click.reasons is not None else None
    facts = PageLeadFacts(has_click=click is not None, network_leads=network_leads, click=click_verdict)
    verdict = fraud.score(facts)
    return Screening(verdict, fraud.decide(verdict.score, fraud_settings.read(organization_id).strictness))


def stage_event(
    screening: Screening,
    *,
    lead_id: UUID,
    organization_id: UUID,
    referral: LeadReferral,
    visit: PageVisit,
    at: datetime,
) -> None:
    """Stage the fraud event of a lead that is held or blocked; leads of one burst share one event that counts them."""
    if screening.decision == "pass":
        return
    lead = HeldLead(
        id=lead_id,
        program_id=referral.program_id,
        affiliate_id=referral.affiliate_id,
        network=visit.network,
        verdict=screening.verdict,
        action="held" if screening.decision == "hold" else "blocked",
        at=at,
    )
    fraud_events.record_held_lead(lead, organization_id=organization_id)
