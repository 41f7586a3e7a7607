"""Round trips of leads, beside the budgets written in their docstrings."""

import pytest

from adapters import clock
from models import db
from pipelines.leads import captured, lifecycle, signed
from schemas.leads.lead import LeadBody
from tests.budgets.test_budgets import _budget, _counting
from tests.support.rows import paid_leads
from tests.support.rows.leads import browser, slug_of


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate(slug_of(brand))
    return brand


def _post(brand, email, **fields):
    posted = LeadBody().load({"affiliateSlug": slug_of(brand), "email": email} | fields)
    with db.unit_of_work(brand.id):
        return signed.record(organization_id=brand.id, lead=posted, is_test=False, now=clock.now()).lead_id


def test_recording_a_signed_lead(shop):
    _post(shop, "warm@example.com")

    with _counting() as counted:
        assert _post(shop, "ada@example.com")

    assert _budget(signed.record) == "3 round trips (look up; insert; writes and commit)"
    assert _budget(lifecycle.record) == "2 round trips (insert; writes and commit)"
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
            lifecycle.match_by_email(organization_id=shop.id, email="ada@example.com", at=clock.now())

    assert _budget(lifecycle.match_by_email) == "1 round trip"
    assert len(counted.trips) == 2, counted  # and the commit


def test_taking_a_lead_from_a_page(shop):
    browser(shop)

    with _counting() as counted:
        browser(shop)

    assert _budget(captured.any_org_stage) == "1 round trip"
    assert len(counted.trips) == 1, counted


def test_taking_a_paid_lead_asks_the_same_of_whoever_is_known(brand):
    with paid_leads.verified_by(URL="local"):
        to = paid_leads.campaign(brand, budget_cents=10_000)
        for email in ("warm@example.org", "known@example.org"):
            paid_leads.send(brand, to, email=email)

        with _counting() as counted:
            assert paid_leads.send(brand, to, email="ada@example.org").status_code == 200
        with _counting() as counted_known:
            assert paid_leads.send(brand, to, email="known@example.org").status_code == 200

    # Three transactions find the link, whether it is open and what decides; the fourth asks that again under the
    # budget's lock, and writes: the two of a lead that is new.
    assert len(counted.trips) == 17, counted
    assert len(counted_known.trips) == 17 - 2, counted_known


@pytest.mark.usefixtures("alone")
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
