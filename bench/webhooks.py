"""Webhook deliveries per second by one worker process of 16 threads with one relay, compared with bare signed POSTs.

Included: dispatch by the relay, Valkey, the attempt's intent in one transaction, signature, HTTPS over keep-alive
connections, the outcome in a second transaction. 20 endpoints of one brand share one local receiver that responds with
200 at once; every attempt succeeds. Events, deliveries and jobs exist before the worker starts; the time runs from the
first `settled_at` of a delivery to the last. Since all are due at once, they are prepared and recorded up to ten at a
time. Not included: creating the events. The receiver runs in a separate process; its limit, measured with the load
generator, is printed below the table. It shares the two cores with everything else, also for the anchor
(`anchors.poster`).
"""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from bench.figure import Figure, Target, measure_alternately
from bench.ground import brand, history, load
from bench.ground.machine import BenchFailed, Machine, free_port, is_open, owner, run_module
from bench.plan import Plan
from domain import jobs
from domain.webhooks import events
from models import ids
from models.jobs import rows
from pipelines.webhooks import emit

_ROUNDS = 3
_DELIVERIES_PER_ROUND = 3_000
_ENDPOINTS = 20
_POLL_S = 0.25

#: The Procfile's command for this queue.
WORKER = ("python", "-m", "workers", "-Q", "webhooks", "-p", "1", "-t", "16")

_STAGE = """
with created as (
  insert into event (id, organization_id, type, body, created_at)
  select uuidv7(), %(org)s, 'conversion.created', %(body)s, clock_timestamp() from generate_series(1, %(count)s)
  returning id, created_at
), deliveries as (
  insert into delivery (id, organization_id, event_id, endpoint_id, event_type, next_attempt_at, created_at)
  select gen_random_uuid(), %(org)s, id, (%(endpoints)s::uuid[])[1 + row_number() over () %% %(of)s],
    'conversion.created', created_at, created_at from created
  returning id, event_id, endpoint_id
)
insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)
select %(org)s, %(queue)s, %(name)s, jsonb_build_object('delivery_id', id, 'event_id', event_id), endpoint_id::text,
  %(max_attempts)s, %(lease_s)s
from deliveries
"""


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    url = plan.machine.create_database("deliveries")
    seller = brand.create(url)
    body = _body(seller)
    count = plan.size(_DELIVERIES_PER_ROUND)
    with (
        receiving(plan.machine) as port,
        owner(url) as cursor,
        plan.machine.running("relay", "flask", "relay") as relay,
    ):
        address = f"https://localhost:{port}/hook/"
        endpoint_ids = [brand.subscribe(seller, f"{address}{number}") for number in range(_ENDPOINTS)]
        backlog = {"org": seller.id, "body": body, "count": count, "endpoints": endpoint_ids}
        _note_ceiling(plan, port, body.encode(), count)
        product, anchor = measure_alternately(
            partial(_deliver, plan, cursor, backlog, relay),
            partial(_post, plan.machine, address, count, body.encode()),
            rounds=_ROUNDS,
        )
    return [Figure("deliveries", product, "deliveries/s", Target(0.8), anchor)]


@contextmanager
def receiving(machine: Machine) -> Iterator[int]:
    """Run the receiver during the block and yield its port."""
    port = free_port()
    folder = str(machine.certificate().parent)
    with machine.running("receiver", "python", "-m", "bench.ground.receiver", folder, str(port)) as process:
        machine.wait_for("the receiver listening", lambda: is_open(port), process)
        yield port


def _body(seller: brand.Brand) -> str:
    data = events.conversion_created(
        conversion_id=ids.new_id(),
        affiliate_id=seller.affiliate_ids[0],
        program_id=seller.program_id,
        amount_cents=10_000,
        currency="USD",
        commission_cents=2_000,
        status="Pending",
        external_event_id="order-1",
        type="OneTime",
    )
    return emit.serialize(
        event_uuid=ids.new_id(),
        organization_id=seller.id,
        type="conversion.created",
        data=data,
        at=datetime.now(UTC),
    )


def _note_ceiling(plan: Plan, port: int, body: bytes, count: int) -> None:
    head = f"POST /hook/0 HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    ca = str(plan.machine.certificate().parent / "cert.pem")
    rate = load.measure_rate(load.Order(port, [head + body] * (4 * count), ca=ca))
    plan.screen.note(
        f"deliveries: the receiver serves {rate:,.0f} POSTs/s of the load generator ({len(body)} B bodies)"
    )


def _deliver(plan: Plan, cursor: Any, backlog: dict[str, Any], relay: "subprocess.Popen[bytes]") -> float:
    count = backlog["count"]
    cursor.execute("select clock_timestamp()")
    (before,) = cursor.fetchone()
    cursor.execute(_STAGE, backlog | rows.kind_columns(jobs.WEBHOOK_DELIVER) | {"of": _ENDPOINTS})
    history.settle_down(cursor)
    with (
        plan.screen.phase("deliveries", total=count) as report,
        plan.machine.running("webhooks", *WORKER) as worker,
    ):
        left = count
        while left:
            time.sleep(_POLL_S)
            plan.machine.check(worker, relay)
            cursor.execute("select count(*) from job where queue = 'webhooks'")
            (left,) = cursor.fetchone()
            report(count - left)
    return _rate(cursor, before, count)


def _rate(cursor: Any, before: datetime, count: int) -> float:
    cursor.execute(
        "select count(*), extract(epoch from max(settled_at) - min(settled_at)) from delivery"
        " where created_at > %s and status = 'Delivered' and attempt_count = 1",
        (before,),
    )
    delivered, seconds = cursor.fetchone()
    if delivered != count:
        raise BenchFailed(f"{delivered} of {count} deliveries succeeded at the first attempt")
    return (count - 1) / float(seconds)


def _post(machine: Machine, address: str, count: int, body: bytes) -> float:
    ca = str(machine.certificate().parent / "cert.pem")
    arguments = (address, str(count), ca, brand.ENDPOINT_SECRET)
    return (count - 1) / float(run_module("bench.anchors.poster", *arguments, given=body, env=machine.env))
