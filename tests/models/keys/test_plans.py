"""Rows searched by their key are found by the whole key in any plan. Source: docs/scale.md."""

import pytest

from models import db
from tests.models.keys import prepared_plans

# Tables whose primary key is (organization_id, id), and that nothing else knows by the id.
_KEYED = (
    "campaign_coupon",
    "click",
    "conversion",
    "conversion_event",
    "event",
    "ledger_entry",
    "refund",
    "sale",
    "webhook_endpoint",
)
# The operator's page of payout lines is joined in the cheaper order.
_PAGES = {"payouts.lists._LINES", "payouts.lists._FIRST_LINES", "payouts.lists._NEXT_LINES", "payouts.receipts._LINES"}


@pytest.fixture
def plans(isolated_database):
    with db.any_org_work():
        return {name: prepared_plans.looks(statement) for name, statement in prepared_plans.every().items()}


def test_row_searched_by_id_is_found_by_the_whole_key(plans):
    assert len(plans) > 100
    partial_key = {
        (name, look.alias)
        for name, looks in plans.items()
        for look in looks
        if look.table in _KEYED and look.names("id") and not (look.goes_by("id") and look.goes_by("organization_id"))
    }

    assert {name for name, _ in partial_key} <= _PAGES, partial_key


def test_lead_is_found_by_event_id_and_organization(plans):
    looks = [look for look in plans["leads.rows._BY_SLUG"] if look.table == "lead"]

    assert looks
    assert all(look.goes_by("event_id") and look.goes_by("organization_id") for look in looks)


def test_refunds_are_found_by_conversion_and_organization(plans):
    looks = [look for look in plans["conversions.refunds._INSERT_REFUND"] if look.table == "refund"]

    assert looks
    assert all(look.goes_by("conversion_id") and look.goes_by("organization_id") for look in looks)
