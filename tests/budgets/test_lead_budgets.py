"""Round trips of leads, beside the budgets written in their docstrings."""

from uuid import UUID

import pytest

from adapters import clock
from domain import leads
from domain.conversions import customers
from models import db, ids
from models.conversions import sales
from models.gateways import creditable
from pipelines.leads import lifecycle, page_leads, server_leads
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
        return server_leads.record(organization_id=brand.id, lead=posted, is_test=False, now=clock.now()).lead_id


def test_recording_a_signed_lead(shop):
    _post(shop, "warm@example.com")

    with _counting() as counted:
        assert _post(shop, "ada@example.com")

    assert _budget(server_leads.record) == "3 round trips (look up; insert; writes and commit)"
    assert _budget(lifecycle.record) == "2 round trips (insert; writes and commit)"
    assert len(counted.trips) == 3, counted


@pytest.mark.parametrize(("fields", "trips"), [({}, 3), ({"externalEventId": "a"}, 2)], ids=["person", "event"])
def test_recognising_a_known_lead(shop, fields, trips):
    _post(shop, "ada@example.com", **fields)

    with _counting() as counted:
        assert _post(shop, "ada@example.com", **fields) is None

    assert len(counted.trips) == trips, counted


def test_taking_a_lead_from_a_page(shop):
    browser(shop)

    with _counting() as counted:
        browser(shop)

    assert _budget(page_leads.any_org_stage) == "1 round trip"
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


_MANY = 3_000
_ADD_LEADS = """
with made as (
  select gen_random_uuid() as id, n, now() - interval '1 day' - n * interval '1 second' as occurred_at
  from generate_series(1, %(many)s) n
), sold as (
  insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, occurred_at, hold_until, created_at)
  select m.id, a.organization_id, a.program_id, a.id, 'lead', 'visit-' || n, 0, 'USD', 0, 'Pending', 'LeadReward',
    'lead', m.occurred_at, m.occurred_at, m.occurred_at from made m, affiliate a where a.id = %(affiliate)s
)
insert into lead (id, organization_id, program_id, affiliate_id, email, email_normalized, external_event_id, event_id,
  method, is_test, occurred_at, expires_at)
select m.id, a.organization_id, a.program_id, a.id, 'ada@example.com', 'ada@example.com', 'visit-' || n, 'visit-' || n,
  'lead_signup', false, m.occurred_at, m.occurred_at + interval '90 days'
from made m, affiliate a where a.id = %(affiliate)s
"""


def _rows_read(statement, params, table):
    """Return how many rows of a table a prepared statement reads, what its filters drop included."""
    values = statement.values(params)
    db.db.run(statement.prepare.decode().replace(statement.name, "read_rows", 1))
    row = db.db.row(
        f"explain (analyze, format json) execute read_rows ({', '.join(['%s'] * len(values))})", tuple(values)
    )
    db.db.run("deallocate read_rows")
    return sum(_read_by(row[0][0]["Plan"], table))


def _read_by(node, table):
    if node.get("Relation Name") == table:
        yield (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    for inner in node.get("Plans", ()):
        yield from _read_by(inner, table)


@pytest.fixture
def crowded(alone, brand):
    """Return a brand of whose thousands of leads of one person none may earn; plans are made of empty tables."""
    brand.program()
    affiliate_id = brand.affiliate(slug_of(brand))
    with db.unit_of_work(brand.id):
        db.db.run(_ADD_LEADS, {"many": _MANY, "affiliate": affiliate_id})
        db.db.run("update affiliate set status = 'Paused' where id = %s", (affiliate_id,))
    return brand


def test_person_with_thousands_of_leads_costs_a_payment_the_newest_hundred(crowded):
    asked = creditable.AskedOrigin(
        gateway="stripe",
        connection_id=ids.new_id(),
        slugs=(),
        codes=(),
        customer_id=None,
        subscription_id=None,
        email_normalized="ada@example.com",
        payer=customers.names(customer_id=None, email="ada@example.com", is_test=False),
        is_test=False,
        at=clock.now(),
    )
    with db.unit_of_work(crowded.id):
        params = {"org": crowded.id, **creditable._asked(asked)}
        assert 0 < _rows_read(creditable._NAMED, params, "lead") <= leads.MAX_MATCHED
        assert [named.by for named in creditable.named(asked, organization_id=crowded.id)] == ["lead"]


def test_person_with_thousands_of_leads_costs_a_signed_sale_the_newest_hundred(crowded):
    crowded.affiliate("rob")
    answer = crowded.sale(affiliateSlug="rob", customerEmail="ada@example.com")
    assert answer.status_code == 200
    with db.unit_of_work(crowded.id):
        # Parameters by their places: the organization, and the sales.
        read = _rows_read(sales._FACTS, (crowded.id, [UUID(answer.json["conversionId"])]), "lead")

    assert 0 < read <= leads.MAX_MATCHED
