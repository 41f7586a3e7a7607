"""Each list with each of its filters reads its rows by an index, and sorts no more than a page.

Thousands of rows get the plans of a million: the tests count the rows that a filter skips, not the time it takes.
The large tenant is among many tenants with one row: a statement is planned once for all tenants, as for the average.
"""

import itertools
import re
from uuid import uuid4

import psycopg2
import pytest

from models import db
from tests.support import databases
from tests.support.rows.brands import Brand

_TAKE = 5
# Prepared statements, and statements planned with their parameters.
_LISTS = re.compile(r"\s*(execute\b|select [deku]\.id|select id, event_id|select count\(\*\) from audit)")
_AFFILIATES, _CONVERSIONS, _PAYOUTS, _OTHER_TENANTS = 1_000, 4_000, 1_000, 200
# The most rows that a list without pages returns.
_MAX_UNPAGED, _REVIEWED = 500, 4_000

_ROWS = """
set session_replication_role = replica;
insert into affiliate (id, organization_id, program_id, email, email_normalized, full_name, status, source, applied_at,
    created_at)
  select uuidv7(), %(org)s, (%(programs)s::uuid[])[1 + i %% 2], i || '@x.test', i || '@x.test', 'N' || i * 7 %% 997,
    (array['Approved', 'Approved', 'Approved', 'Pending'])[1 + i / 2 %% 4], 'Direct', at, at
  from (select i, now() - i * interval '1 s' as at from generate_series(1, %(affiliates)s) i) n;
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, sub_id, occurred_at, hold_until,
    created_at)
  select uuidv7(), %(org)s, (%(programs)s::uuid[])[1 + i %% 2], k.ids[1 + i %% 10], 's2s', 'o-' || i, 100, 'USD', 20,
    (array['Pending', 'Approved', 'Approved', 'Paid'])[1 + i / 10 %% 4],
    case when i / 40 %% 4 = 0 then 'LeadReward' else 'OneTime' end, 'program', 'Percentage', 20,
    case when i / 11 %% 3 > 0 then 'tag-' || i / 11 %% 7 end, at, at, at
  from (select array_agg(id) as ids from (select id from affiliate order by id limit 10) a) k,
    (select i, now() - i * interval '1 s' as at from generate_series(1, %(conversions)s) i) n;
insert into payout_run (id, organization_id, confirmed_cents, confirmed_totals, filters, created_at)
  select uuidv7(), %(org)s, 100, '{}', '{}', now() from generate_series(1, 20);
insert into payout (id, organization_id, run_id, program_id, affiliate_id, amount_cents, method, destination, status,
    period_start, period_end, created_at)
  select uuidv7(), %(org)s, r.ids[1 + i %% 20], (%(programs)s::uuid[])[1], k.ids[1 + i / 20 %% 50], 100, 'Wallet', 'x',
    (array['Pending', 'Processing'])[1 + i %% 2], now(), now(), now() - i * interval '1 s'
  from (select array_agg(id) as ids from payout_run) r,
    (select array_agg(id) as ids from (select id from affiliate order by id limit 50) a) k,
    generate_series(1, %(payouts)s) i;
insert into affiliate_coupon (id, organization_id, program_id, affiliate_id, campaign_coupon_id, code, origin, status,
    created_at, revoked_at)
  select uuidv7(), %(org)s, (%(programs)s::uuid[])[1 + i %% 2], k.ids[1 + i %% 10], (%(coupons)s::uuid[])[1 + i %% 3],
    'CODE-' || i, 'external', case when i / 2 %% 4 = 0 then 'Revoked' else 'Active' end, at,
    case when i / 2 %% 4 = 0 then at end
  from (select array_agg(id) as ids from (select id from affiliate order by id limit 10) a) k,
    (select i, now() - i * interval '1 s' as at from generate_series(1, %(affiliates)s) i) n;
insert into deal (id, organization_id, program_id, affiliate_id, title, currency, status, is_test, created_at)
  select uuidv7(), %(org)s, (%(programs)s::uuid[])[1 + i %% 2], k.ids[1 + i %% 10], 'D', 'USD',
    (array['Draft', 'Offered', 'Accepted', 'Accepted'])[1 + i / 2 %% 4], false, now() - i * interval '1 s'
  from (select array_agg(id) as ids from (select id from affiliate order by id limit 10) a) k,
    generate_series(1, %(affiliates)s) i;
insert into fraud_event (id, organization_id, program_id, affiliate_id, subject, subject_id, score, reasons, severity,
    action, status, occurred_at, resolved_at, resolved_by)
  select uuidv7(), %(org)s, (%(programs)s::uuid[])[1 + i %% 2], k.ids[1 + i %% 10], 'click', uuidv7(), 50, '{}', 'low',
    'blocked', status, now() - i * interval '1 s', case when status <> 'open' then now() end,
    case when status <> 'open' then uuidv7() end
  from (select array_agg(id) as ids from (select id from affiliate order by id limit 10) a) k,
    (select i, (array['open', 'resolved'])[1 + i / 2 %% 2] as status from generate_series(1, %(reviewed)s) i) n;
insert into uncredited_conversion (id, organization_id, program_id, affiliate_id, source, external_event_id,
    amount_cents, currency, reason, affiliate_status_at_drop, status, is_test, occurred_at)
  select uuidv7(), %(org)s, (%(programs)s::uuid[])[1 + i %% 2], k.ids[1 + i %% 4], 's2s', 'u-' || i, 100, 'USD',
    'not_approved', 'Paused', (array['open', 'dismissed'])[1 + i / 4 %% 2], false, now() - i * interval '1 s'
  from (select array_agg(id) as ids from (select id from affiliate order by id limit 4) a) k,
    generate_series(1, %(reviewed)s) i;
insert into webhook_endpoint (id, organization_id, url, events, secret_sealed)
  values (%(endpoint)s, %(org)s, 'https://x.test', '{*}', '');
insert into delivery (id, organization_id, event_id, endpoint_id, event_type, status, created_at)
  select uuidv7(), %(org)s, uuidv7(), %(endpoint)s,
    case when i %% 10 = 7 then 'payout.paid' else 'conversion.created' end,
    case when i %% 50 between 41 and 47 then 'Failed' else 'Delivered' end, now() - i * interval '1 s'
  from generate_series(1, %(reviewed)s) i;
insert into affiliate (id, organization_id, program_id, email, email_normalized, full_name, status, source, applied_at,
    created_at)
  select uuidv7(), uuidv7(), uuidv7(), i || '@y.test', i || '@y.test', 'N', 'Approved', 'Direct', now(), now()
  from generate_series(1, %(others)s) i;
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, occurred_at, hold_until, created_at)
  select uuidv7(), organization_id, program_id, id, 's2s', 'o', 100, 'USD', 20, 'Approved', 'OneTime', 'program',
    'Percentage', 20, now(), now(), now()
  from affiliate where full_name = 'N';
analyze;
"""


@pytest.fixture(scope="module")
def large_brand(app):
    """A brand with two campaigns and thousands of rows of each kind, in an isolated database."""
    with databases.isolated_database() as url:
        brand = Brand.create(app, plan="Pro")
        params = {
            "org": brand.id,
            "programs": [brand.program(), brand.program()],
            "affiliates": _AFFILIATES,
            "conversions": _CONVERSIONS,
            "payouts": _PAYOUTS,
            "others": _OTHER_TENANTS,
            "reviewed": _REVIEWED,
            "endpoint": uuid4(),
            "coupons": [uuid4() for _ in range(3)],
        }
        connection = psycopg2.connect(url)
        with connection, connection.cursor() as cursor:
            cursor.execute(_ROWS, params)
        connection.close()
        yield brand


def _list_paged_queries(brand):
    """Yield the path of each paged list with each filter, and with the pairs of filters that have an index."""
    program = brand.programs[0]
    ((affiliate, run),) = brand.rows("select affiliate_id, run_id from payout order by created_at desc limit 1")
    by_program, by_affiliate = f"programId={program}", f"affiliateId={affiliate}"
    since, until = "since=2020-01-01T00:00:00Z", "until=2999-01-01T00:00:00Z"
    dated = f"{since}&{until}"

    affiliates = ["", by_program, "status=Approved", "status=Pending", f"{by_program}&status=Pending"]
    yield from _build_paths("affiliates", affiliates, ["newest", "oldest"])
    yield from _build_paths("affiliates", [*affiliates, f"{by_program}&status=Approved"], ["name"])

    pairs = [f"{by_affiliate}&status=Paid", f"{by_program}&status=Paid"]
    pairs += [f"{by_affiliate}&subId=tag-1", f"{by_affiliate}&subId=untagged"]
    pairs += [f"kind=lead&{filter_}" for filter_ in ("status=Paid", by_program, by_affiliate)]
    single = ["", by_affiliate, by_program, "status=Paid", "kind=lead", "subId=tag-1", "subId=untagged"]
    yield from _build_paths("conversions", [*single, *pairs], ["newest", "oldest"])
    yield from _build_paths("conversions", [f"{query}&{dated}" for query in (*single, *pairs)], ["newest"])
    yield from _build_paths("conversions", ["status=Pending"], ["payable"])

    yield from _build_paths("payouts", ["", by_affiliate, "status=Processing", f"runId={run}"], [""])

    newest = "select affiliate_id, campaign_coupon_id from affiliate_coupon order by created_at desc limit 1"
    ((owner, coupon),) = brand.rows(newest)
    codes = ["", by_program, f"affiliateId={owner}", "status=Revoked", f"couponId={coupon}"]
    yield from _build_paths("coupon-codes", codes, [""])
    yield from _build_paths("deals", ["", by_program, f"affiliateId={owner}", "status=Draft"], [""])

    ((endpoint,),) = brand.rows("select id from webhook_endpoint")
    deliveries = ["", "status=Delivered", "status=Failed", "eventType=payout.paid"]
    deliveries += ["eventType=payout.paid&status=Delivered", "eventType=payout.paid&status=Failed"]
    yield from _build_paths(
        f"webhooks/{endpoint}/deliveries", [*deliveries, *(f"{query}&{dated}" for query in deliveries)], [""]
    )


def _list_unpaged_queries(brand):
    """Yield the path of each list without pages, with each of its filters."""
    program = brand.programs[0]
    ((affiliate,),) = brand.rows("select affiliate_id from uncredited_conversion order by occurred_at desc limit 1")
    for query in ("", "status=all", "status=resolved", f"programId={program}", f"programId={program}&status=all"):
        yield f"/api/v1/fraud-events?{query}"
    for query in (
        "",
        "status=all",
        "status=dismissed",
        f"affiliateId={affiliate}",
        f"affiliateId={affiliate}&status=all",
    ):
        yield f"/api/v1/uncredited-conversions?{query}"


def _build_paths(path, queries, orders):
    for query, order in itertools.product(queries, orders):
        yield f"/api/v1/{path}?take={_TAKE}&{query}" + (f"&sort={order}" if order else "")


def _explain_request(brand, path):
    """Return the answer and the executed plan of each list statement of the request."""
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    answer = brand.get(path)
    db.db.trip_hooks.remove(trips.append)
    statements = [part for trip in trips for part in trip.decode().split(";\n") if _LISTS.match(part)]
    explain = "explain (analyze, timing off, summary off) "
    return answer, ["\n".join(line for (line,) in brand.rows(explain + statement)) for statement in statements]


def _is_reading_too_much(plans, row_count):
    """Return whether plans read more rows than are returned, or whole tables."""
    text = "\n".join(plans)
    read = [int(rows) for rows in re.findall(r"actual rows=(\d+)", text)]
    skipped = [int(rows) for rows in re.findall(r"Rows Removed by [A-Za-z ]+: (\d+)", text)]
    return not plans or max(read + skipped) > row_count + 1 or "Seq Scan on" in text


def _format_failures(failures):
    return "\n\n".join(f"{path}\n" + "\n".join(plans) for path, _, plans in failures)


def test_paged_list_with_any_filter_reads_one_page(large_brand):
    failures = []
    for path in _list_paged_queries(large_brand):
        answer, plans = _explain_request(large_brand, path)
        if len(answer.json["items"]) != _TAKE or _is_reading_too_much(plans, _TAKE):
            failures.append((path, answer.json, plans))

    assert failures == [], _format_failures(failures)


def test_unpaged_list_with_any_filter_reads_only_its_rows(large_brand):
    failures = []
    for path in _list_unpaged_queries(large_brand):
        answer, plans = _explain_request(large_brand, path)
        if len(answer.json) != _MAX_UNPAGED or _is_reading_too_much(plans, _MAX_UNPAGED):
            failures.append((path, answer.json, plans))

    assert failures == [], _format_failures(failures)


@pytest.mark.parametrize("q", ["o-77", "{id}", "N14", "N14&sort=oldest", "N"])
def test_search_reads_matches_by_key_without_a_large_hash_or_scan(large_brand, q):
    ((conversion_id,),) = large_brand.rows("select id from conversion order by created_at limit 1")
    answer, plans = _explain_request(large_brand, f"/api/v1/conversions?take={_TAKE}&q={q.format(id=conversion_id)}")
    plan = "\n".join(plans)

    assert answer.json["items"], answer.json
    # Each match is read by its key, whatever the number of tenants and the size of this one.
    assert re.search(
        r"conversion_pkey on conversion .*\n +Index Cond: \(\(organization_id = \$\d\) AND \(id = \w+\.id", plan
    ), plan
    assert max(int(rows) for rows in re.findall(r" on conversion\b.*actual rows=(\d+)", plan)) <= _TAKE + 1, plan
    # The size of a hash table follows the plan's estimate, before a row is read.
    assert max(int(rows) for rows in re.findall(r"HashAggregate  \(cost=\S+ rows=(\d+)", plan)) <= 200, plan
    assert "Seq Scan on" not in plan, plan


def test_audit_log_is_counted_in_its_index_without_a_tenant_check_per_row(large_brand):
    answer, (*_, plan) = _explain_request(large_brand, "/api/v1/audit-log?pageSize=5")

    assert answer.status_code == 200, answer.json
    assert "Index Only Scan using audit_entry" in plan and "Seq Scan on" not in plan, plan
    assert not re.search(r"Filter: .*current_setting", plan), plan
