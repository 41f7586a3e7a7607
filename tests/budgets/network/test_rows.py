"""What affiliates browse in the network costs the rows of a page, however many programs are listed."""

import json

import pytest

from models import db
from models.programs import network
from tests.support import databases
from tests.support.rows.brands import Brand

_BRANDS = 1_000
_LISTED = 10_000
# Of four in five brands the network shows programs, and a few of those, each with ten, have a currency of their own.
_MANY = f"""
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
def crowded(app):
    """Let the network list as many programs as a large one, as the planner knows them; gives the owner's URL."""
    with databases.alone() as url:
        Brand.create(app).set(bankBalanceCents="1")
        databases.run(url, _MANY)
        yield url


def _asked(filters, after=None):
    """Return a page, and how many rows of programs its only statement read."""
    sent = []
    wanted = {"category": None, "model": None, "currency": None} | filters
    db.db.trip_hooks.append(sent.append)
    with db.any_org_work():
        rows = network.any_org_page(
            account_id=None, email="eva@example.com", sandbox=False, filters=wanted, after=after, limit=_PAGE
        )
        db.db.trip_hooks.remove(sent.append)
        (statement,) = [part for trip in sent for part in trip.decode().split(";\n") if "from program" in part]
        ((plan,),) = db.db.run(
            "explain (analyze, timing off, summary off, format json) " + statement.replace("%", "%%")
        )
    (whole,) = plan if isinstance(plan, list) else json.loads(plan)
    return rows, sum(_read(whole["Plan"])), len(sent)


def _read(node):
    if node.get("Relation Name") == "program":
        yield (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    for part in node.get("Plans", ()):
        yield from _read(part)


@pytest.mark.usefixtures("crowded")
@pytest.mark.parametrize("filters", _KINDS, ids=lambda kind: "-".join(kind.values()) or "all")
def test_a_page_reads_its_own_rows_by_every_filter(filters):
    after = None
    for number in range(3):
        rows, read, trips = _asked(filters, after)
        assert (trips, len(rows)) == (1, _PAGE)
        assert [one.listed_at for one in rows] == sorted((one.listed_at for one in rows), reverse=True)
        assert after is None or rows[0].listed_at < after[0]
        # A fifth is passed over.
        assert read <= 2 * _PAGE, (number, read)
        after = (rows[-1].listed_at, rows[-1].id)


def test_far_behind_the_first_page_it_is_the_same(crowded):
    newest = "select network_decided_at, id from program order by network_decided_at desc offset 7000 limit 1"
    (middle,) = databases.rows(crowded, newest)
    for filters in _KINDS:
        rows, read, _ = _asked(filters, middle)
        assert rows, filters
        assert rows[0].listed_at < middle[0], filters
        assert read <= 2 * _PAGE, (filters, read)


@pytest.mark.usefixtures("crowded")
def test_a_currency_of_few_brands_is_found_from_those():
    rows, read, _ = _asked({"currency": "KGS"})

    assert len(rows) == 40
    assert read == 40
