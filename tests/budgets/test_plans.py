"""Plans of hot statements: which index finds their rows, and how many rows they read where there are many."""

import json
import re
from uuid import UUID

import pytest

from adapters import clock
from domain import leads
from domain.conversions import customers
from models import db, ids
from models.conversions import sales
from models.gateways import credit_candidates, payments
from models.programs import network
from tests.support import databases
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows import leads as rows_of_leads
from tests.support.rows.brands import Brand
from tests.support.running.trips import record_round_trips


def _rows_read(node, table):
    """Yield how many rows of a table each part of a plan read, those that its filters dropped included."""
    if node.get("Relation Name") == table:
        yield (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    for part in node.get("Plans", ()):
        yield from _rows_read(part, table)


@pytest.fixture
def shop(brand):
    brand.program()
    for slug in ("ben", "jane"):
        brand.affiliate(slug)
    return brand


@pytest.mark.usefixtures("isolated_database")
def test_lead_of_a_sale_is_found_by_its_index_with_a_plan_of_an_empty_table(shop):
    conversion_id = UUID(shop.sale().json["conversionId"])
    drain("sales")

    with db.unit_of_work(shop.id):
        plan = [line for (line,) in db.db.run(f"explain {sales._FACTS.execute}", (shop.id, [conversion_id]))]

    (look,) = [line for line in plan if " on lead " in line and "Subquery" not in line]
    assert "using lead_match on" in look
    assert not any("Sort Key: lead" in line for line in plan), plan


@pytest.mark.usefixtures("isolated_database")
def test_known_and_waiting_payments_are_found_by_index_with_a_plan_of_an_empty_table(shop, stack):
    stage = stack.enter_context(play_gateway())
    url = connect_gateway(shop.person("Owner"), stage)["webhookUrl"]
    sale = stage.pay(Purchase())
    for delivery in (*stage.refund(sale, 100), *sale.notifications):  # the refund waits
        path = "/" + url.split("/", 3)[3]
        assert shop.app.test_client().post(path, data=delivery.body, headers=dict(delivery.headers)).status_code == 200
        drain()
    with db.unit_of_work(shop.id):
        known, woken = (
            "\n".join(line for (line,) in db.db.run(f"explain {statement.execute}", [None] * count))
            for statement, count in (
                (payments._LOCK_CONTEXT, 9),
                (payments._RELEASE_PARKED, 8),
            )
        )

    assert "using gateway_alias_pkey" in known, known
    for plan in (known, woken):
        for by in ("customer", "subscription", "email", "order"):
            assert f"using gateway_payment_{by} on gateway_payment" in plan, plan
        (event,) = re.findall(r"on gateway_event\S*.*\n +Index Cond: (.*)", plan)
        assert re.search(r"id = p\S*\.event_id", event), plan
        (look,) = re.findall(r"using gateway_parked_pkey on gateway_parked\S*.*\n +Index Cond: (.*)", plan)
        assert "alias = ANY" in look, plan


@pytest.mark.usefixtures("isolated_database")
def test_plans_of_leads_read_no_whole_table(shop):
    assert rows_of_leads.post_signed_lead(shop).status_code == 200
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


def _rows_read_by(statement, params, table):
    """Return how many rows of a table a prepared statement reads, what its filters drop included."""
    values = statement.values(params)
    db.db.run(statement.prepare.decode().replace(statement.name, "read_rows", 1))
    row = db.db.row(
        f"explain (analyze, format json) execute read_rows ({', '.join(['%s'] * len(values))})", tuple(values)
    )
    db.db.run("deallocate read_rows")
    return sum(_rows_read(row[0][0]["Plan"], table))


@pytest.fixture
def crowded_leads(isolated_database, brand):
    """Return a brand of whose thousands of leads of one person none may earn; plans are made of empty tables."""
    brand.program()
    affiliate_id = brand.affiliate("ben")
    with db.unit_of_work(brand.id):
        db.db.run(_ADD_LEADS, {"many": _MANY, "affiliate": affiliate_id})
        db.db.run("update affiliate set status = 'Paused' where id = %s", (affiliate_id,))
    return brand


def test_person_with_thousands_of_leads_costs_a_payment_the_newest_hundred(crowded_leads):
    origin = credit_candidates.PaymentOrigin(
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
    with db.unit_of_work(crowded_leads.id):
        params = {"org": crowded_leads.id, **credit_candidates._params(origin)}
        assert 0 < _rows_read_by(credit_candidates._CANDIDATES, params, "lead") <= leads.MAX_MATCHED
        assert [
            candidate.by for candidate in credit_candidates.list_candidates(origin, organization_id=crowded_leads.id)
        ] == ["lead"]


def test_person_with_thousands_of_leads_costs_a_signed_sale_the_newest_hundred(crowded_leads):
    crowded_leads.affiliate("rob")
    answer = crowded_leads.sale(affiliateSlug="rob", customerEmail="ada@example.com")
    assert answer.status_code == 200
    with db.unit_of_work(crowded_leads.id):
        # Parameters by their places: the organization, and the sales.
        read = _rows_read_by(sales._FACTS, (crowded_leads.id, [UUID(answer.json["conversionId"])]), "lead")

    assert 0 < read <= leads.MAX_MATCHED


_BRANDS = 1_000
_LISTED = 10_000
# Of four in five brands the network shows programs, and a few of those, each with ten, have a currency of their own.
_ADD_PROGRAMS = f"""
set session_replication_role = replica;
insert into organization select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'slug', n,
    'name', n, 'subdomain', null, 'plan_tier', case when n % 5 = 0 then 'Free' else 'Growth' end,
    'home_currency', case when n % 250 = 1 then 'KGS' else 'USD' end))).*
  from organization o, generate_series(1, {_BRANDS}) n;
insert into program (id, organization_id, name, slug, default_commission_type, default_commission_value,
    default_commission_model, category, network_visibility, network_review, network_asked_at, network_decided_at,
    network_decided_by, fee_currency)
  select gen_random_uuid(), o.id, 'Listed', 'listed-' || n, 'Fixed', 20, case when n % 60 = 1 then 'Cpl' else 'Cps' end,
    case when n % 30 = 1 then 'Games' else 'Software' end, 'Networked', 'Approved', now(),
    now() + n * interval '1 second', 'ops', case when n % 60 = 1 then 'USD' end
  from generate_series(1, {_LISTED}) n join organization o on o.name = (1 + n % {_BRANDS})::text;
-- As the server does by itself before long.
analyze organization;
analyze program;
"""
_PAGE = 50
_KINDS = [
    {},
    {"category": "Games"},
    {"category": "Software"},
    {"model": "Cpl"},
    {"model": "Cps"},
    {"category": "Software", "model": "Cps"},
    {"currency": "USD"},
    {"currency": "USD", "category": "Software"},
]


@pytest.fixture(scope="module")
def crowded_network(app):
    """List as many programs as a large network has, known to the planner; return the owner's URL."""
    with databases.isolated_database() as url:
        Brand.create(app).set(bankBalanceCents="1")
        databases.run_as_owner(url, _ADD_PROGRAMS)
        yield url


def _read_page(filters, after=None):
    """Return a page, and how many rows of programs its only statement read."""
    choice = {"category": None, "model": None, "currency": None} | filters
    with db.any_org_work():
        with record_round_trips() as round_trips:
            rows = network.any_org_page(
                account_id=None, email="eva@example.com", sandbox=False, filters=choice, after=after, limit=_PAGE
            )
        (statement,) = [part for trip in round_trips for part in trip.decode().split(";\n") if "from program" in part]
        ((plan,),) = db.db.run(
            "explain (analyze, timing off, summary off, format json) " + statement.replace("%", "%%")
        )
    (whole,) = plan if isinstance(plan, list) else json.loads(plan)
    return rows, sum(_rows_read(whole["Plan"], "program")), len(round_trips)


@pytest.mark.usefixtures("crowded_network")
@pytest.mark.parametrize("filters", _KINDS, ids=lambda kind: "-".join(kind.values()) or "all")
def test_a_page_reads_its_own_rows_by_every_filter(filters):
    after = None
    for number in range(3):
        rows, read, trips = _read_page(filters, after)
        assert (trips, len(rows)) == (1, _PAGE)
        assert [row.listed_at for row in rows] == sorted((row.listed_at for row in rows), reverse=True)
        assert after is None or rows[0].listed_at < after[0]
        # A fifth is passed over.
        assert read <= 2 * _PAGE, (number, read)
        after = (rows[-1].listed_at, rows[-1].id)


def test_far_behind_the_first_page_it_is_the_same(crowded_network):
    newest = "select network_decided_at, id from program order by network_decided_at desc offset 7000 limit 1"
    (middle,) = databases.select_as_owner(crowded_network, newest)
    for filters in _KINDS:
        rows, read, _ = _read_page(filters, middle)
        assert rows, filters
        assert rows[0].listed_at < middle[0], filters
        assert read <= 2 * _PAGE, (filters, read)


@pytest.mark.usefixtures("crowded_network")
def test_a_currency_of_few_brands_is_found_from_those():
    rows, read, _ = _read_page({"currency": "KGS"})

    assert len(rows) == 40
    assert read == 40
