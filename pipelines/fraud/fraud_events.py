"""Recording of fraud events.

Source: core spec, "Click and lead fraud review".
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID, uuid5

from domain.fraud import Verdict, severity
from domain.fraud.bands import Severity
from models import ids
from models.fraud import events


def record_event(
    *,
    organization_id: UUID,
    program_id: UUID,
    affiliate_id: UUID,
    subject: Literal["click", "lead"],
    subject_id: UUID,
    verdict: Verdict,
    action: Literal["blocked", "held"],
    severity: Severity,
    at: datetime,
) -> None:
    """Stage an open event for a click or lead; a repetition changes nothing. `at` is when it happened."""
    events.stage_insert(
        {
            "id": ids.new_id(),
            "organization_id": organization_id,
            "program_id": program_id,
            "affiliate_id": affiliate_id,
            "subject": subject,
            "subject_id": subject_id,
            "score": verdict.score,
            "reasons": list(verdict.reasons),
            "severity": severity,
            "action": action,
            "occurred_at": at,
        }
    )


def record_held_click(
    *, organization_id: UUID, click_id: str, link: tuple[UUID, UUID], verdict: Verdict, at: datetime
) -> None:
    """Stage the open event of a held click; `link` is its program and affiliate."""
    record_event(
        organization_id=organization_id,
        program_id=link[0],
        affiliate_id=link[1],
        subject="click",
        subject_id=UUID(click_id),
        verdict=verdict,
        action="held",
        severity=severity(verdict.score),
        at=at,
    )


@dataclass(frozen=True, slots=True)
class BlockedClick:
    """A blocked click of a program and an affiliate."""

    id: str
    program_id: UUID
    affiliate_id: UUID
    verdict: Verdict
    at: datetime

    @property
    def event_id(self) -> UUID:
        """The id of the event that counts it: one per link, hour (UTC) and reasons."""
        hour = self.at.astimezone(UTC).strftime("%Y%m%d%H")
        return uuid5(self.affiliate_id, ":".join(["blocked", str(self.program_id), hour, *self.verdict.reasons]))


def record_blocked_clicks(*, organization_id: UUID, clicks: Iterable[BlockedClick]) -> None:
    """Stage the events of blocked clicks, under the organization's lock, each click in the transaction that writes it.

    Clicks of one link and hour with the same reasons share one event, opened by the first and counting the others, so
    that a flood of clicks does not fill the list. An event that the brand closed counts on until its hour is over.
    """
    by_event: dict[UUID, list[BlockedClick]] = defaultdict(list)
    for click in clicks:
        by_event[click.event_id].append(click)
    rows = [_event_row(event_id, event_clicks[0], len(event_clicks)) for event_id, event_clicks in by_event.items()]
    events.stage_counts(organization_id=organization_id, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLead:
    """A held or blocked lead of a page, its program and affiliate. `network` is the sender's, hashed."""

    id: UUID
    program_id: UUID
    affiliate_id: UUID
    network: str
    verdict: Verdict
    action: Literal["blocked", "held"]
    at: datetime

    @property
    def event_id(self) -> UUID:
        """The id of the event that counts it: one per affiliate, network, hour (UTC) and reasons."""
        hour = self.at.astimezone(UTC).strftime("%Y%m%d%H")
        return uuid5(self.affiliate_id, ":".join([self.action, self.network, hour, *self.verdict.reasons]))


def record_held_lead(lead: HeldLead, *, organization_id: UUID) -> None:
    """Stage the event of a lead that a page sent; call it once per lead.

    Leads of one burst share an event, opened by the first and counting the others: a flood is one entry.
    """
    row = {
        "id": lead.event_id,
        "program_id": lead.program_id,
        "affiliate_id": lead.affiliate_id,
        "subject": "lead",
        "subject_id": lead.id,
        "score": lead.verdict.score,
        "reasons": lead.verdict.reasons,
        "severity": severity(lead.verdict.score),
        "action": lead.action,
        "occurred_at": lead.at,
        "occurrences": 1,
    }
    events.stage_counts(organization_id=organization_id, rows=[row])


def _event_row(event_id: UUID, first: BlockedClick, occurrences: int) -> dict[str, object]:
    return {
        "id": event_id,
        "program_id": first.program_id,
        "affiliate_id": first.affiliate_id,
        "subject": "click",
        "subject_id": first.id,
        "score": first.verdict.score,
        "reasons": first.verdict.reasons,
        "severity": severity(first.verdict.score),
        "action": "blocked",
        "occurred_at": first.at,
        "occurrences": occurrences,
    }
