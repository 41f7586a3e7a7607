"""Plans of hot statements: the index that finds their rows, and the number of rows read in large tables."""

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
    """Yield the number of rows of a table that each node of a plan read, including rows that its filters removed."""
    if node.get("Relation Name") == table:
        yield (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from _rows_read(child, table)


@pytest.fixture
def shop(brand):
    brand.program()
    for slug in ("ben", "jane"):
        brand.affiliate(slug)
    return brand


@pytest.mark.usefixtures("isolated_database")
def test_lead_of_a_sale_is_found_by_index_even_with_a_plan_of_an_empty_table(shop):
    conversion_id = UUID(shop.sale().json["conversionId"])
    drain("sales")

    with db.unit_of_work(shop.id):
        plan = [line for (line,) in db.db.run(f"explain {sales._FACTS.execute}", (shop.id, [conversion_id]))]

    (lead_scan,) = [line for line in plan if " on lead " in line and "Subquery" not in line]
    assert "using lead_match on" in lead_scan
    assert not any("Sort Key: lead" in line for line in plan), plan


@pytest.mark.usefixtures("isolated_database")
def test_known_and_parked_payments_are_found_by_index_even_with_a_plan_of_an_empty_table(shop, stack):
    stage = stack.enter_context(play_gateway())
    url = connect_gateway(shop.person("Owner"), stage)["webhookUrl"]
    sale = stage.pay(Purchase())
    for delivery in (*stage.refund(sale, 100), *sale.notifications):  # the refund is parked until its payment arrives
        path = "/" + url.split("/", 3)[3]
        assert shop.app.test_client().post(path, data=delivery.body, headers=dict(delivery.headers)).status_code == 200
        drain()
    with db.unit_of_work(shop.id):
        lock_plan, release_plan = (
            "\n".join(line for (line,) in db.db.run(f"explain {statement.execute}", [None] * count))
            for statement, count in (
                (payments._LOCK_CONTEXT, 9),
                (payments._RELEASE_PARKED, 8),
            )
        )

    assert "using gateway_alias_pkey" in lock_plan, lock_plan
    for plan in (lock_plan, release_plan):
        for key in ("customer", "subscription", "email", "order"):
            assert f"using gateway_payment_{key} on gateway_payment" in plan, plan
        (event_condition,) = re.findall(r"on gateway_event\S*.*\n +Index Cond: (.*)", plan)
        assert re.search(r"id = p\S*\.event_id", event_condition), plan
        (parked_condition,) = re.findall(r"using gateway_parked_pkey on gateway_parked\S*.*\n +Index Cond: (.*)", plan)
        assert "alias = ANY" in parked_condition, plan


@pytest.mark.usefixtures("isolated_database")
def test_leads_are_found_by_index_without_a_sort(shop):
    assert rows_of_leads.post_signed_lead(shop).status_code == 200
    with db.unit_of_work(shop.id):
        plan = db.db.run(
            "explain select id from lead where organization_id = %s and email_normalized = %s"
            " and state <> 'Invalidated' and occurred_at > now() - interval '90 days'"
            " order by occurred_at desc, id desc limit 1",
            (shop.id, "ada@example.com"),
        )
    with db.any_org_work():
        due_plan = db.db.run(
            "explain select id from lead where state = 'Open' and expires_at <= now() order by expires_at"
        )

    assert "lead_match" in str(plan)
    assert "Sort" not in str(plan)
    assert "lead_open" in str(due_plan)


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
    """Return the number of rows of a table that a prepared statement reads, including rows that its filters remove."""
    values = statement.values(params)
    db.db.run(statement.prepare.decode().replace(statement.name, "read_rows", 1))
    row = db.db.row(
        f"explain (analyze, format json) execute read_rows ({', '.join(['%s'] * len(values))})", tuple(values)
    )
    db.db.run("deallocate read_rows")
    return sum(_rows_read(row[0][0]["Plan"], table))


@pytest.fixture
def crowded_leads(isolated_database, brand):
    """Return a brand with thousands of leads of one person, none of which may earn; plans assume empty tables."""
    brand.program()
    affiliate_id = brand.affiliate("ben")
    with db.unit_of_work(brand.id):
        db.db.run(_ADD_LEADS, {"many": _MANY, "affiliate": affiliate_id})
        db.db.run("update affiliate set status = 'Paused' where id = %s", (affiliate_id,))
    return brand


def test_payment_reads_at_most_a_hundred_of_a_persons_leads(crowded_leads):
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


def test_signed_sale_reads_at_most_a_hundred_of_a_persons_leads(crowded_leads):
    crowded_leads.affiliate("rob")
    answer = crowded_leads.sale(affiliateSlug="rob", customerEmail="ada@example.com")
    assert answer.status_code == 200
    with db.unit_of_work(crowded_leads.id):
        # Parameters by their places: the organization, and the sales.
        rows_read = _rows_read_by(sales._FACTS, (crowded_leads.id, [UUID(answer.json["conversionId"])]), "lead")

    assert 0 < rows_read <= leads.MAX_MATCHED


_BRANDS = 1_000
_LISTED = 10_000
# The network shows programs of four in five brands; a few of these brands, with ten programs each, use KGS.
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
-- The server does the same by itself after a while.
analyze organization;
analyze program;
"""
_PAGE = 50
_FILTERS = [
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
    """Insert as many programs as a large network has and analyze the tables; return the owner's URL."""
    with databases.isolated_database() as url:
        Brand.create(app).set(bankBalanceCents="1")
        databases.run_as_owner(url, _ADD_PROGRAMS)
        yield url


def _read_page(filters, after=None):
    """Return a page, the number of programs that its only statement read, and the number of round trips."""
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
    (root,) = plan if isinstance(plan, list) else json.loads(plan)
    return rows, sum(_rows_read(root["Plan"], "program")), len(round_trips)


@pytest.mark.usefixtures("crowded_network")
@pytest.mark.parametrize("filters", _FILTERS, ids=lambda filters: "-".join(filters.values()) or "all")
def test_network_page_reads_few_other_rows_with_every_filter(filters):
    after = None
    for number in range(3):
        rows, rows_read, trips = _read_page(filters, after)
        assert (trips, len(rows)) == (1, _PAGE)
        assert [row.listed_at for row in rows] == sorted((row.listed_at for row in rows), reverse=True)
        assert after is None or rows[0].listed_at < after[0]
        # A fifth of the programs belongs to brands on the Free plan.
        assert rows_read <= 2 * _PAGE, (number, rows_read)
        after = (rows[-1].listed_at, rows[-1].id)


def test_late_network_page_reads_few_other_rows_with_every_filter(crowded_network):
    newest = "select network_decided_at, id from program order by network_decided_at desc offset 7000 limit 1"
    (middle,) = databases.select_as_owner(crowded_network, newest)
    for filters in _FILTERS:
        rows, rows_read, _ = _read_page(filters, middle)
        assert rows, filters
        assert rows[0].listed_at < middle[0], filters
        assert rows_read <= 2 * _PAGE, (filters, rows_read)


@pytest.mark.usefixtures("crowded_network")
def test_network_page_of_a_rare_currency_reads_only_its_rows():
    rows, rows_read, _ = _read_page({"currency": "KGS"})

    assert len(rows) == 40
    assert rows_read == 40
