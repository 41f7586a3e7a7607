"""Searches and samples in large tables read only the returned rows, by an index."""

import re

import psycopg2
import pytest

from models import db
from tests.support import databases
from tests.support.rows.brands import Brand

# 100,000 rows gave the same plans, but take minutes to write.
MANY = 2_000
SEARCH = "/api/v1/automation/search"

# Copies of the one row of each table; an id is derived from its number, so that each row can be requested.
_ROWS = """
set session_replication_role = replica;
alter table program alter column hero_file_id drop expression;
create temp table n as select i, md5(i::text)::uuid as id, now() - i * interval '1 s' as at
  from generate_series(1, {many}) i;
insert into program select (jsonb_populate_record(p, jsonb_build_object('id', n.id, 'created_at', n.at,
  'slug', 's-' || i, 'name', 'Campaign ' || i))).* from n, program p;
insert into affiliate (id, organization_id, program_id, email, email_normalized, status, source, applied_at, created_at)
  select n.id, a.organization_id, a.program_id, i || '@x.test', i || '@x.test', 'Approved', 'Direct', at, at
  from n, affiliate a;
insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default, created_at)
  select n.id, l.organization_id, l.program_id, n.id, 'l-' || i, true, at from n, tracking_link l;
insert into sale select (jsonb_populate_record(s, jsonb_build_object('id', n.id, 'external_event_id', 'o-' || i,
  'settled_at', at))).* from n, sale s;
insert into conversion select (jsonb_populate_record(c, jsonb_build_object('id', n.id, 'created_at', at,
  'external_event_id', 'o-' || i, 'source', case when i % 2 = 0 then 's2s' else 'import' end))).* from n, conversion c;
insert into payout_run (id, organization_id, confirmed_cents, confirmed_totals, filters, created_at)
  select n.id, o.id, 100, '{{}}', '{{}}', at from n, organization o;
insert into payout (id, organization_id, run_id, program_id, affiliate_id, amount_cents, method, destination,
  period_start, period_end, created_at)
  select n.id, o.id, n.id, n.id, n.id, 100, 'Wallet', 'x', now(), now(), at from n, organization o;
insert into event (id, organization_id, type, body, created_at)
  select n.id, o.id, case when i % ({many} / 2) = 0 then 'payout.paid' else 'conversion.created' end, e.body, at
  from n, organization o, event e;
analyze program, affiliate, tracking_link, sale, conversion, payout_run, payout, event;
"""


@pytest.fixture(scope="module")
def brand_with_many_rows(app):
    """Return a brand with many rows in each table, in a separate database."""
    with databases.isolated_database() as url:
        brand = Brand.create(app)
        brand.program()
        brand.affiliate("ben")
        sale = brand.sale(externalEventId="first").json["conversionId"]
        assert brand.get(f"{SEARCH}/conversions?id={sale}").status_code == 200
        connection = psycopg2.connect(url)
        with connection, connection.cursor() as cursor:
            cursor.execute(_ROWS.format(many=MANY))
        connection.close()
        yield brand


def _explain_request(brand, path):
    """Return the response, and the query plan of each statement of the request."""
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    answer = brand.get(path)
    db.db.trip_hooks.remove(trips.append)
    statements = [
        part for trip in trips for part in trip.decode().split(";\n") if re.match(r"\s*(select|with|execute)\b", part)
    ]
    explain = "explain (analyze, timing off, summary off) "
    return answer, ["\n".join(line for (line,) in brand.rows(explain + statement)) for statement in statements]


def test_search_and_samples_read_by_index(brand_with_many_rows):
    ((number_7,),) = brand_with_many_rows.rows("select md5('7')::uuid")
    failures = []
    for path, row_count in [
        ("affiliates?email=7@X.test", 1),
        ("affiliates?slug=l-7", 1),
        ("campaigns?slug=s-7", 1),
        ("campaigns?name=Campaign 7", 1),
        ("conversions?externalEventId=o-7", 1),
        (f"conversions?id={number_7}", 1),
        ("conversions?externalEventId=nowhere", 0),
        (f"payouts?id={number_7}", 1),
        (f"payouts?affiliateId={number_7}", 1),
        ("../events/conversion.created/samples", 3),
        ("../events/payout.paid/samples", 2),
        ("../events/payout.failed/samples", 1),
    ]:
        address = f"/api/v1/automation/{path[3:]}" if path.startswith("..") else f"{SEARCH}/{path}"
        answer, plans = _explain_request(brand_with_many_rows, address)
        plan_text = "\n".join(plans)
        rows_read = [int(rows) for rows in re.findall(r"actual rows=(\d+)", plan_text)]
        rows_removed = [int(rows) for rows in re.findall(r"Rows Removed by [A-Za-z ]+: (\d+)", plan_text)]
        if len(answer.json) != row_count or max(rows_read + rows_removed) > 20 or "Seq Scan on" in plan_text:
            failures.append((path, answer.json, plan_text))

    assert failures == [], "\n\n".join(f"{path}\n{rows}\n{plan}" for path, rows, plan in failures)
