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
        return {
            name: prepared_plans.read_accesses(statement)
            for name, statement in prepared_plans.list_statements().items()
        }


def test_row_searched_by_id_is_found_by_the_whole_key(plans):
    assert len(plans) > 100
    partial_key = {
        (name, access.alias)
        for name, accesses in plans.items()
        for access in accesses
        if access.table in _KEYED
        and access.requires("id")
        and not (access.searches_by("id") and access.searches_by("organization_id"))
    }

    assert {name for name, _ in partial_key} <= _PAGES, partial_key


def test_lead_is_found_by_event_id_and_organization(plans):
    accesses = [access for access in plans["leads.rows._BY_SLUG"] if access.table == "lead"]

    assert accesses
    assert all(access.searches_by("event_id") and access.searches_by("organization_id") for access in accesses)


def test_refunds_are_found_by_conversion_and_organization(plans):
    accesses = [access for access in plans["conversions.refunds._INSERT_REFUND"] if access.table == "refund"]

    assert accesses
    assert all(access.searches_by("conversion_id") and access.searches_by("organization_id") for access in accesses)
