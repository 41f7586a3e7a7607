"""Payments per second that a reconcile lists at the gateway and knows already, beside a bare reader of the same list.

In: `pipelines.gateways.reconcile` as its job runs it, in this process: a page of 100 over HTTP, translated into
deliveries, and looked up in a transaction of its own. 10,000 payments are known; the list holds them all. The gateway
is stripe's list, played by a process on this machine (`ground.stripe_lists`).
The anchor asks for the same pages with `requests` and reads them as JSON. The round trips of a page are noted under the
table: they are the same whatever is on it, which `tests/budgets` holds.
"""

import os
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import requests

import settings
from bench.figure import Figure, Target, interleaved
from bench.ground import brand, history, stripe
from bench.ground.machine import BenchFailed, free_port, is_open, owner
from bench.plan import Plan
from models import db
from pipelines.gateways import reconcile

_PAYMENTS, _ROUNDS, _PREFIX = 10_000, 5, "known"

# The owner may skip the checks of foreign keys: nobody asks which event told a payment.
_LOAD = """
begin; set local session_replication_role = replica;
create temp table made on commit drop as select uuidv7() as id, n from generate_series(0, %(count)s - 1) n;
insert into gateway_payment (id, organization_id, gateway, external_id, event_id, reason, paid_cents, currency, is_test,
    paid_at, created_at)
  select id, %(org)s, 'stripe', 'in_' || %(prefix)s || '-' || n, id, 'nobody_referred', 10000 + n, 'USD', false, now(),
    now() from made;
insert into gateway_alias (organization_id, gateway, alias, payment_id)
  select %(org)s, 'stripe', 'in_' || %(prefix)s || '-' || n, id from made;
commit
"""


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    count, port = plan.size(_PAYMENTS), free_port()
    url = plan.machine.fresh("gateway_reconcile")
    shop = stripe.connected(brand.create(url))
    with owner(url) as cursor:
        cursor.execute(_LOAD, {"org": shop.brand.id, "count": count, "prefix": _PREFIX})
        history.settle_down(cursor)
    command = ("python", "-m", "bench.ground.stripe_lists", str(port), str(count), _PREFIX)
    os.environ["API_ADDRESSES"] = f"stripe=http://127.0.0.1:{port}"
    settings.current.cache_clear()
    try:
        with plan.machine.running("stripe", *command) as stripes:
            plan.machine.wait_for("the list being there", lambda: is_open(port), stripes)
            trips: Counter[int] = Counter()
            product, anchor = interleaved(
                partial(_reconcile, shop, count, trips), partial(_read, port, count), rounds=_ROUNDS
            )
    finally:
        del os.environ["API_ADDRESSES"]
        settings.current.cache_clear()
    told = ", ".join(f"{each} in {pages} pages" for each, pages in sorted(trips.items()))
    plan.screen.note(
        f"gateway_reconcile: round trips of a page, that of preparing the statement with the first: {told}"
    )
    return [Figure("gateway_reconcile", product, "payments/s", Target(0.2), anchor)]


def _reconcile(shop: stripe.StripeShop, count: int, trips: "Counter[int]") -> float:
    started, found = time.perf_counter(), reconcile.ReconcileFound()
    since = datetime.now(UTC) - timedelta(days=1)
    run = reconcile.ReconcileRun(shop.connection, since, datetime.now(UTC))
    sent: list[bytes] = []
    db.db.trip_hooks.append(sent.append)
    for page in reconcile.pages(run, found):
        sent.clear()
        with db.unit_of_work(shop.brand.id):
            reconcile.take(run, page, found, now=datetime.now(UTC))
        trips[len(sent)] += 1
    db.db.trip_hooks.remove(sent.append)
    if (found.listed, found.new) != (count, 0):
        raise BenchFailed(f"{found.listed} of {count} listed, {found.new} new, {found.away or found.error}")
    return count / (time.perf_counter() - started)


def _read(port: int, count: int) -> float:
    started, read = time.perf_counter(), 0
    after: dict[str, str] = {}
    while True:
        page: Any = requests.get(f"http://127.0.0.1:{port}/v1/events", params=after, timeout=10).json()
        read += len(page["data"])
        if not page["has_more"]:
            break
        after = {"starting_after": page["data"][-1]["id"]}
    if read != count:
        raise BenchFailed(f"{read} of {count} read")
    return count / (time.perf_counter() - started)
