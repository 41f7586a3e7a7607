"""What affiliates browse in the network costs the rows of a page, however many programs are listed."""

import json

import pytest

from models import db
from models.programs import network
from tests.support.databases import alter

_LISTED = 10_000
_MANY = """
insert into program (id, organization_id, name, slug, default_commission_type, default_commission_value,
  default_commission_model, category, network_visibility, network_review, network_asked_at, network_decided_at,
  network_decided_by, fee_currency)
select gen_random_uuid(), %s, 'Listed', 'listed-' || n, 'Fixed', 20, case when n %% 100 = 0 then 'Cpl' else 'Cps' end,
  case when n %% 50 = 0 then 'Games' else 'Software' end, 'Networked', 'Approved', now(),
  now() + n * interval '1 second', 'ops', case when n %% 100 = 0 then 'USD' end
from generate_series(1, %s) n
"""
_PAGE = 50


@pytest.fixture
def crowded(alone, brand):
    """A brand with as many listed programs as a large network has."""
    brand.set(bankBalanceCents="1", currency="KGS")
    alter(brand, _MANY, brand.id, _LISTED)
    alter(brand, "analyze program")
    return brand


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


def test_a_page_reads_its_own_rows_by_every_filter(crowded):
    for filters in (
        {},
        {"category": "Games"},
        {"model": "Cpl"},
        {"model": "Cps"},
        {"category": "Software", "model": "Cps"},
        {"currency": "KGS"},
    ):
        rows, read, trips = _asked(filters)
        assert (len(rows), trips) == (_PAGE, 1), filters
        assert read <= 2 * _PAGE, (filters, read)
        last = rows[-1]
        further, read, _ = _asked(filters, after=(last.listed_at, last.id))
        assert len(further) == _PAGE, filters
        assert further[0].listed_at < last.listed_at, filters
        assert read <= 2 * _PAGE, (filters, read)
