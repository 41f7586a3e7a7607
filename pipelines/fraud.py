"""Fraud events: how one is recorded, and how a brand closes it.

Source: core spec, "Click and lead fraud review".
"""

from datetime import datetime
from typing import Literal
from uuid import UUID

from domain.fraud import Verdict, severity
from domain.fraud.bands import Severity
from domain.refused import Refused, not_found
from models import fraud_events, ids
from models.fraud_events import FraudEvent

# What an action of the API leaves an event as.
_CLOSED_AS = {"resolve": "resolved", "dismiss": "dismissed"}


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
    """Stage an open event for a click or lead; the same one again changes nothing. `at` is when it happened."""
    fraud_events.stage_insert(
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


def record_click(
    *,
    organization_id: UUID,
    click_id: str,
    link: tuple[UUID, UUID],
    verdict: Verdict,
    action: Literal["blocked", "held"],
    at: datetime,
) -> None:
    """Stage the open event of a click on a link: its program and affiliate."""
    record_event(
        organization_id=organization_id,
        program_id=link[0],
        affiliate_id=link[1],
        subject="click",
        subject_id=UUID(click_id),
        verdict=verdict,
        action=action,
        severity=severity(verdict.score),
        at=at,
    )


def find(*, organization_id: UUID, event_id: UUID) -> FraudEvent:
    """Return an event of the organization or refuse with 404 not_found."""
    found = fraud_events.find(organization_id=organization_id, event_id=event_id)
    if found is None:
        raise not_found("fraud event", event_id)
    return found


def close(*, event: FraudEvent, action: str, by: UUID, now: datetime) -> None:
    """Resolve or dismiss an open event, in the row and on the object. `by` is the member.

    Raises Refused: 409 invalid_status_transition for one that is closed, also by somebody a moment ago.
    """
    status = _CLOSED_AS[action]
    if not fraud_events.close(organization_id=event.organization_id, event_id=event.id, status=status, by=by, at=now):
        message = f"Only an open fraud event can be {status}; this one is closed."
        raise Refused(409, "invalid_status_transition", message)
    event.status, event.resolved_at, event.resolved_by = status, now, by
