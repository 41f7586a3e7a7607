"""States, age and payability of leads (tracking spec, "Lead body" and section 8; core spec, "Conversion")."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from domain import leads
from domain.leads import LeadState
from domain.statuses import ConversionStatus, Payability

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEAD = UUID("0190b2c0-0000-7000-8000-000000000001")


def test_lead_expires_after_90_days():
    assert leads.expires_at(NOW) - NOW == timedelta(days=90)


@pytest.mark.parametrize(("event_id", "expected"), [("signup-1", "signup-1"), (None, f"lead:{LEAD}"), (" ", " ")])
def test_missing_event_id_is_derived_from_the_lead(event_id, expected):
    assert leads.event_id(LEAD, event_id) == expected


@pytest.mark.parametrize("status", list(ConversionStatus))
def test_only_an_invalidated_conversion_invalidates_its_lead(status):
    expected = LeadState.Invalidated if status == ConversionStatus.Invalidated else LeadState.Open

    assert leads.state_of(status) == expected


@pytest.mark.parametrize(
    ("is_converted", "time_left", "state"),
    [
        (True, timedelta(days=1), LeadState.Converted),
        (True, timedelta(days=-1), LeadState.Converted),
        (False, timedelta(microseconds=1), LeadState.Open),
        (False, timedelta(0), LeadState.Expired),
        (False, timedelta(days=-1), LeadState.Expired),
    ],
)
def test_validated_lead_returns_to_its_regular_state(is_converted, time_left, state):
    assert leads.restored_state(is_converted=is_converted, expires_at=NOW + time_left, now=NOW) == state


@pytest.mark.parametrize(
    ("is_paid", "pays_leads", "payability"),
    [
        (True, True, Payability.payable),
        (True, False, Payability.payable),
        (False, True, Payability.attribution_only),
        (False, False, Payability.not_paid_on_campaign),
    ],
)
def test_unpaid_lead_is_attribution_only_where_leads_are_paid(is_paid, pays_leads, payability):
    assert leads.payability(is_paid=is_paid, pays_leads=pays_leads) == payability
