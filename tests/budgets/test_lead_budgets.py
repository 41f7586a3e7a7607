"""Round trips of leads, beside the budgets written in their docstrings."""

import pytest

from models import db
from pipelines import captured_lead, clock, leads, signed_lead
from schemas.lead import LeadBody
from tests.budgets.test_budgets import _budget, _counting
from tests.leads import browser, slug_of


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate(slug_of(brand))
    return brand


def _post(brand, email, **fields):
    posted = LeadBody().load({"affiliateSlug": slug_of(brand), "email": email} | fields)
    with db.unit_of_work(brand.id):
        return signed_lead.record(organization_id=brand.id, lead=posted, is_test=False, now=clock.now()).lead_id


def test_recording_a_signed_lead(shop):
    _post(shop, "warm@example.com")

    with _counting() as counted:
        assert _post(shop, "ada@example.com")

    assert _budget(signed_lead.record) == "3 round trips (look up; insert; writes and commit)"
    assert _budget(leads.record) == "2 round trips (insert; writes and commit)"
    assert len(counted.trips) == 3, counted


@pytest.mark.parametrize(("fields", "trips"), [({}, 3), ({"externalEventId": "a"}, 2)], ids=["person", "event"])
def test_recognising_a_known_lead(shop, fields, trips):
    _post(shop, "ada@example.com", **fields)

    with _counting() as counted:
        assert _post(shop, "ada@example.com", **fields) is None

    assert len(counted.trips) == trips, counted


def test_matching_a_buyer(shop):
    for _ in range(2):
        with _counting() as counted, db.unit_of_work(shop.id):
            leads.match_by_email(organization_id=shop.id, email="ada@example.com", at=clock.now())

    assert _budget(leads.match_by_email) == "1 round trip"
    assert len(counted.trips) == 2, counted  # and the commit


def test_taking_a_lead_from_a_page(shop):
    browser(shop)

    with _counting() as counted:
        browser(shop)

    assert _budget(captured_lead.any_org_stage) == "1 round trip"
    assert len(counted.trips) == 1, counted


def test_the_plans_of_leads_read_no_whole_table(shop):
    _post(shop, "ada@example.com")
    with db.unit_of_work(shop.id):
        plan = db.db.run(
            "explain select id from lead where organization_id = %s and email_normalized = %s"
            " and state <> 'Invalidated' and occurred_at > now() - interval '90 days'"
            " order by occurred_at desc, id desc limit 1",
            (shop.id, "ada@example.com"),
        )
    with db.any_org_work():
        due = db.db.run("explain select id from lead where state = 'Open' and expires_at <= now() order by expires_at")

    assert "lead_match" in str(plan)
    assert "Sort" not in str(plan)
    assert "lead_open" in str(due)
