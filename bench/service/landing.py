"""Landing pages per second by one gunicorn worker with 8 threads, beside a bare route that fills the same template.

In: HTTP, the rate limit in Valkey (so high that nothing is refused), the campaign by handle and slug in one statement
among 10,000 of one hundred brands, its terms in words, the template with a fresh key for its form, metrics, the log
line. The anchor (`anchors.template`) runs under the same gunicorn.conf.py and fills the template with constants.
Out: style and pictures, which a browser asks for once. Requests go round 1,000 campaigns.
The load generator keeps 16 connections busy and shares the two cores with what it measures.
"""

from contextlib import ExitStack

from bench.figure import Figure, Target, interleaved
from bench.ground import brand, history, load
from bench.ground.fleets import gunicorn
from bench.ground.machine import free_port, owner
from bench.plan import Plan

_ROUNDS, _PAGES_PER_ROUND, _WARM_UP, _PROGRAMS, _ASKED = 5, 2_000, 200, 10_000, 1_000

_LOAD = """
insert into organization (id, name, slug, subdomain, plan_tier, subscription_status)
  select uuidv7(), 'Brand ' || n, 'landing-' || n, 'landing-' || n, 'Growth', 'Active' from generate_series(0, 99) n;
insert into program (id, organization_id, name, slug, description, default_commission_type, default_commission_value,
    default_commission_model, recurring_months, landing_page_config)
  select uuidv7(), o.id, 'Campaign ' || n, 'campaign-' || n, 'Recommend what you use.', 'Percentage', 20, 'Cps', 12,
    jsonb_build_object('headline', 'Recommend ' || n, 'intro', 'Earn with it.', 'heroImageId', null,
      'accentColor', '#b3541e', 'showTerms', true, 'sections',
      jsonb_build_array(jsonb_build_object('title', 'Whom we look for', 'text', repeat('Words and more. ', 30))))
  from generate_series(0, %(programs)s - 1) n join organization o on o.slug = 'landing-' || n %% 100
"""


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    url = plan.machine.fresh("landing_pages")
    brand.create(url)
    programs = plan.size(_PROGRAMS)
    with owner(url) as cursor:
        cursor.execute(_LOAD, {"programs": programs})
        history.settle_down(cursor)
    product_port, anchor_port = free_port(), free_port()
    with ExitStack() as running:
        running.enter_context(gunicorn(plan.machine, "web", "app:create_app()", product_port))
        running.enter_context(gunicorn(plan.machine, "anchor", "bench.anchors.template:create_app()", anchor_port))
        return [_figure(plan, min(_ASKED, programs), product_port, anchor_port)]


def _figure(plan: Plan, asked: int, product_port: int, anchor_port: int) -> Figure:
    size = plan.size(_PAGES_PER_ROUND)

    def rate(port: int, count: int = size) -> float:
        return load.fire(load.Order(port, [_request(number % asked, port) for number in range(count)]))

    for port in (product_port, anchor_port):
        rate(port, _WARM_UP)
    product, anchor = interleaved(lambda: rate(product_port), lambda: rate(anchor_port), rounds=_ROUNDS)
    return Figure("landing_page", product, "pages/s", Target(0.5), anchor)


def _request(number: int, port: int) -> bytes:
    path = f"/p/landing-{number % 100}/campaign-{number}"
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: Mozilla/5.0\r\n\r\n".encode()
