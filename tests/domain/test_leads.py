"""States, age and payability of leads (tracking spec, "Lead body" and section 8; core spec, "Conversion")."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from domain import leads
from domain.leads import LeadState
from domain.statuses import ConversionStatus, Payability

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEAD = UUID("0190b2c0-0000-7000-8000-000000000001")


def test_a_lead_waits_ninety_days_for_its_sale():
    assert leads.expires_at(NOW) - NOW == timedelta(days=90)


@pytest.mark.parametrize(("sent", "kept"), [("signup-1", "signup-1"), (None, f"lead:{LEAD}"), (" ", " ")])
def test_a_conversion_is_known_by_what_the_brand_sent_else_by_its_lead(sent, kept):
    assert leads.event_id(LEAD, sent) == kept


@pytest.mark.parametrize("status", list(ConversionStatus))
def test_only_a_lead_in_quarantine_is_not_open(status):
    expected = LeadState.Invalidated if status == ConversionStatus.Invalidated else LeadState.Open

    assert leads.state_of(status) == expected


@pytest.mark.parametrize(
    ("is_converted", "left", "state"),
    [
        (True, timedelta(days=1), LeadState.Converted),
        (True, timedelta(days=-1), LeadState.Converted),
        (False, timedelta(microseconds=1), LeadState.Open),
        (False, timedelta(0), LeadState.Expired),
        (False, timedelta(days=-1), LeadState.Expired),
    ],
)
def test_a_lead_that_is_validated_goes_back_where_it_would_be(is_converted, left, state):
    assert leads.restored_state(is_converted=is_converted, expires_at=NOW + left, now=NOW) == state


@pytest.mark.parametrize(
    ("is_paid", "pays_leads", "payability"),
    [
        (True, True, Payability.payable),
        (True, False, Payability.payable),
        (False, True, Payability.attribution_only),
        (False, False, Payability.not_paid_on_campaign),
    ],
)
def test_a_free_lead_is_a_marker_where_leads_are_paid_and_unpaid_elsewhere(is_paid, pays_leads, payability):
    assert leads.payability(is_paid=is_paid, pays_leads=pays_leads) == payability
