"""The states of a lead, how long it counts, and the payability of its zero marker.

Source: tracking spec, "Lead body", section 8 "Lead attribution order"; core spec, "Conversion" (lead rows).
"""

from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from domain.statuses import ConversionStatus, Payability

#: A sale is matched with leads of at most this age.
WINDOW = timedelta(days=90)
#: A sale of a buyer with more leads is matched with this many of the newest.
MAX_MATCHED = 100

_SECOND = timedelta(seconds=1)


class LeadState(StrEnum):
    """The state of a lead. A conversion that is invalidated for fraud invalidates its lead as well."""

    Open = "Open"
    Converted = "Converted"
    Expired = "Expired"
    Invalidated = "Invalidated"


class LeadMethod(StrEnum):
    """The attribution method of a lead: a free signup, or the form of a campaign that pays for leads."""

    lead_signup = "lead_signup"
    lead_form = "lead_form"


def is_before(*, occurred_at: datetime, paid_at: datetime) -> bool:
    """Return whether a lead counts as recorded before a payment.

    Gateways report whole seconds, so a lead in the same second does.
    """
    return occurred_at < paid_at.replace(microsecond=0) + _SECOND


def event_id(lead_id: UUID, external_event_id: str | None) -> str:
    """Return the external id of a lead's conversion: the brand's own, else one made from the lead's id."""
    return external_event_id or f"lead:{lead_id}"


def expires_at(occurred_at: datetime) -> datetime:
    """Return the time at which a lead stops waiting for its sale."""
    return occurred_at + WINDOW


def state_of(status: ConversionStatus) -> LeadState:
    """Return the state of a new lead whose conversion starts with this status."""
    return LeadState.Invalidated if status == ConversionStatus.Invalidated else LeadState.Open


def restored_state(*, is_converted: bool, expires_at: datetime, now: datetime) -> LeadState:
    """Return the state of a lead whose conversion is validated again."""
    if is_converted:
        return LeadState.Converted
    return LeadState.Open if now < expires_at else LeadState.Expired


def payability(*, is_paid: bool, pays_leads: bool) -> Payability:
    """Return whether a lead's conversion can earn: a free one is a marker next to the paid one, or not paid at all."""
    if is_paid:
        return Payability.payable
    return Payability.attribution_only if pays_leads else Payability.not_paid_on_campaign
