"""What is looked for by its key goes by the whole of it, whatever the plan was made of. Source: docs/scale.md."""

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
# What is read for an operator's page of payout lines is joined in whichever order there are fewer of.
_PAGES = {"payouts.lists._LINES", "payouts.lists._FIRST_LINES", "payouts.lists._NEXT_LINES", "payouts.receipts._LINES"}


@pytest.fixture
def plans(isolated_database):
    with db.any_org_work():
        return {name: prepared_plans.looks(statement) for name, statement in prepared_plans.every().items()}


def test_what_is_known_by_its_key_is_found_by_the_whole_key(plans):
    assert len(plans) > 100
    astray = {
        (name, look.alias)
        for name, looks in plans.items()
        for look in looks
        if look.table in _KEYED and look.names("id") and not (look.goes_by("id") and look.goes_by("organization_id"))
    }

    assert {name for name, _ in astray} <= _PAGES, astray


def test_a_lead_is_found_by_its_event_and_not_among_all_of_its_brand(plans):
    looks = [look for look in plans["leads.rows._BY_SLUG"] if look.table == "lead"]

    assert looks
    assert all(look.goes_by("event_id") and look.goes_by("organization_id") for look in looks)


def test_a_conversions_refunds_are_found_by_it_and_not_among_all_of_its_brand(plans):
    looks = [look for look in plans["conversions.refunds._INSERT_REFUND"] if look.table == "refund"]

    assert looks
    assert all(look.goes_by("conversion_id") and look.goes_by("organization_id") for look in looks)
