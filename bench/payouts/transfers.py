"""Payouts sent per second by one worker process of 8 threads with one relay, beside a no-op Dramatiq actor.

In: hand-out by the relay, Valkey, the intent committed before the rail is asked, the sandbox rail's own books (a unit
of work of its own, as an outside service would have), and the durable commit of what it said: the payout Paid, its one
line closed, the ledger entry, the conversion Paid, the outbound event. Every further line of a payout is one more
conversion to change with all its indexes; a note tells the figure with ten lines. With all of them due at once they are
prepared and recorded up to twenty at a time.
Out: nobody subscribes, so no deliveries. The run that makes the payouts is over before the worker starts; the time runs
from the first `paid_at` in the database to the last.
The anchor is the one of sales_settled, with the same number of threads.
"""

from datetime import UTC, datetime
from functools import partial
from subprocess import Popen
from typing import Any

from bench.figure import Figure, Target, interleaved
from bench.ground import fleets, history, payroll
from bench.ground.brand import Brand
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan
from domain.payouts.confirmation import RunFilters, RunRequest
from models import db
from pipelines.payouts import due, run

_ROUNDS = 3
_PAYOUTS_PER_ROUND = 1_500
_LINES_NOTED = 10
_NOOPS_PER_PAYOUT = 4

#: What the Procfile runs for this queue.
WORKER = ("python", "-m", "workers", "-Q", "payouts", "-p", "1", "-t", "8")


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    url = plan.machine.fresh("transfers")
    payouts = plan.size(_PAYOUTS_PER_ROUND)
    with owner(url) as cursor, plan.machine.running("relay", "flask", "relay") as relay:
        seller, payees = payroll.create(url, cursor, affiliates=payouts)
        product, anchor = interleaved(
            lambda: _send(plan, cursor, seller, payees, relay, lines=1),
            partial(fleets.noops, plan.machine, payouts * _NOOPS_PER_PAYOUT),
            rounds=_ROUNDS,
        )
        noted = _send(plan, cursor, seller, payees, relay, lines=_LINES_NOTED)
    plan.screen.note(f"transfers: {noted:.0f} payouts/s with {_LINES_NOTED} lines each")
    return [Figure("transfers", product, "payouts/s", Target(0.3), anchor)]


def _send(plan: Plan, cursor: Any, seller: Brand, payees: list[Any], relay: "Popen[bytes]", *, lines: int) -> float:
    cursor.execute("select count(*) from conversion")
    (already,) = cursor.fetchone()
    payroll.load(cursor, seller, payees, already + lines * len(payees), plan.screen, already=already)
    before = _run(seller)
    history.settle_down(cursor)
    with (
        plan.screen.phase("payouts to send", total=len(payees)) as report,
        plan.machine.running("payouts", *WORKER) as worker,
    ):
        fleets.wait_until_done(
            cursor,
            lambda left: report(len(payees) - left),
            lambda: plan.machine.check(worker, relay),
            queue="payouts",
        )
    cursor.execute(
        "select count(*), extract(epoch from max(paid_at) - min(paid_at)) from payout where paid_at > %s", (before,)
    )
    paid, seconds = cursor.fetchone()
    if paid != len(payees):
        raise BenchFailed(f"{paid} payouts were paid")
    return (paid - 1) / float(seconds)


def _run(seller: Brand) -> datetime:
    now = datetime.now(UTC)
    with db.unit_of_work(seller.id):
        found = due.preview(organization_id=seller.id, filters=RunFilters(), now=now)
        request = RunRequest(confirm_total_cents=found.planned.confirm_total_cents)
        run.make(organization_id=seller.id, request=request, now=now)
    return now
