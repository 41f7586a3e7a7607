"""Pages of 50 affiliates per second by one gunicorn worker with 8 threads, compared with a bare Flask route.

Included: HTTP, API key (cached as in production), rate limit in Valkey (so high that nothing is refused), plan, the
page and its links under row-level security, schemas, cursor, metrics, the log line. The anchor (`anchors.page`) runs
under the same gunicorn.conf.py on the same PostgreSQL and sends 50 rows that PostgreSQL converted to JSON. Not
included: any write. There are 10,000 affiliates, and one link each for the 200 newest; every request gets the first
page. The load generator keeps 16 connections busy and shares the two cores with the measured processes.
"""

from contextlib import ExitStack
from typing import Any

from bench.figure import Figure, Target, measure_alternately
from bench.ground import brand, history, load
from bench.ground.fleets import gunicorn
from bench.ground.machine import free_port, owner
from bench.plan import Plan

_ROUNDS, _PAGES_PER_ROUND, _WARM_UP, _AFFILIATES = 5, 1_500, 100, 10_000

_LOAD = """
insert into affiliate (id, organization_id, program_id, email, email_normalized, full_name, status, source, applied_at,
    approved_at, created_at)
  select uuidv7(at - now()), %(org)s, %(program)s, 'many-' || n || '@example.com', 'many-' || n || '@example.com',
    'Many ' || n, 'Approved', 'Direct', at, at, at
  from (select n, now() + make_interval(secs => n - %(all)s) as at from generate_series(1, %(all)s) n) numbered
"""
_LINKS = """
insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default)
  select uuidv7(), a.organization_id, a.program_id, a.id, 'link-' || a.id, true
  from (select * from affiliate where organization_id = %s order by created_at desc, id desc limit 200) a
  where not exists (select from tracking_link l where l.affiliate_id = a.id)
"""


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    url = plan.machine.create_database("affiliate_list")
    seller = brand.create(url)
    with owner(url) as cursor:
        load_affiliates(plan, cursor, seller)
    product_port, anchor_port = free_port(), free_port()
    with ExitStack() as running:
        running.enter_context(gunicorn(plan.machine, "web", "app:create_app()", product_port))
        running.enter_context(
            gunicorn(
                plan.machine,
                "anchor",
                "bench.anchors.page:create_app()",
                anchor_port,
                ORGANIZATION_ID=str(seller.id),
            )
        )
        return [_figure(plan, seller, product_port, anchor_port)]


def load_affiliates(plan: Plan, cursor: Any, seller: brand.Brand) -> None:
    """Insert affiliates, one second apart, ending now, and links of the newest."""
    cursor.execute(_LOAD, {"org": seller.id, "program": seller.program_id, "all": plan.size(_AFFILIATES)})
    cursor.execute(_LINKS, (seller.id,))
    history.settle_down(cursor)


def _figure(plan: Plan, seller: brand.Brand, product_port: int, anchor_port: int) -> Figure:
    size = plan.size(_PAGES_PER_ROUND)

    def rate(port: int, count: int = size) -> float:
        return load.measure_rate(load.Order(port, [_request(seller, port)] * count))

    for port in (product_port, anchor_port):
        rate(port, _WARM_UP)
    product, anchor = measure_alternately(lambda: rate(product_port), lambda: rate(anchor_port), rounds=_ROUNDS)
    return Figure("affiliate_list", product, "pages/s", Target(0.6), anchor)


def _request(seller: brand.Brand, port: int) -> bytes:
    return (
        f"GET /api/v1/affiliates?take=50 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {seller.api_key}\r\n\r\n"
    ).encode()
