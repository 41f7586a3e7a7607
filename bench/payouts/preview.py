"""How much longer a preview of 1,000,000 conversions takes than one SQL aggregate that reads the same rows.

10,000 affiliates, five currencies, everything due and ready. The tables as `payroll` loads them.
In: `pipelines.payouts.due.preview` in a unit of work: what is due per affiliate and currency with every conversion's
id, less what stands in open lines, each valued at home by its date and rounded alone; how each affiliate is paid, the
plan, the rates. A note tells how long the answer's JSON takes on top. The anchor sums and counts per affiliate and
currency what is payable, under the same row-level security and with the same leave to read the whole table. Both take
turns on one connection; the least of each counts. Value and anchor are times; their ratio is the figure.
Out: HTTP.
"""

import time
from datetime import UTC, datetime

import orjson

from bench.figure import Figure, Target
from bench.ground import payroll
from bench.ground.brand import Brand
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan
from domain.payouts.confirmation import RunFilters
from models import db
from pipelines.payouts import due

_CONVERSIONS, _ROUNDS = 1_000_000, 5
_AGGREGATE = """
select affiliate_id, currency, count(*), sum(commission_cents - reversed_cents - paid_cents) from conversion
where organization_id = %s and status in ('Pending', 'Approved') and (status = 'Approved' or hold_until <= now())
  and not payout_locked and not is_test and commission_cents - reversed_cents > paid_cents
group by affiliate_id, currency
"""


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    url = plan.machine.fresh("payout_preview")
    conversions = plan.size(_CONVERSIONS)
    with owner(url) as cursor:
        seller, payees = payroll.create(url, cursor, affiliates=plan.size(payroll.AFFILIATES))
        payroll.load(cursor, seller, payees, conversions, plan.screen)
    _check(seller, conversions)
    previews, anchors, answers = [], [], []
    for _ in range(_ROUNDS):
        seconds, found = _preview(seller)
        previews.append(seconds)
        answers.append(_answer(found))
        anchors.append(_aggregate(seller))
    plan.screen.note(f"payout_preview: {min(answers):.2f} s more to write the answer's JSON")
    return [Figure("payout_preview", min(previews), "s", Target(1.5, is_ceiling=True), min(anchors))]


def _check(seller: Brand, conversions: int) -> None:
    _, found = _preview(seller)
    held = sum(len(orjson.loads(part.conversion_ids_json)) for part in found.eligible)
    if held != conversions or not all(candidate.is_ready for candidate in found.planned.candidates):
        raise BenchFailed(f"the preview holds {held} conversions")


def _preview(seller: Brand) -> tuple[float, due.PayoutPreview]:
    now = datetime.now(UTC)
    started = time.perf_counter()
    with db.unit_of_work(seller.id):
        found = due.preview(organization_id=seller.id, filters=RunFilters(), now=now)
    return time.perf_counter() - started, found


def _answer(found: due.PayoutPreview) -> float:
    from api.payouts.runs import shown

    started = time.perf_counter()
    orjson.dumps(shown(found, datetime.now(UTC)))
    return time.perf_counter() - started


def _aggregate(seller: Brand) -> float:
    started = time.perf_counter()
    with db.unit_of_work(seller.id):
        db.db.stage("set local enable_seqscan = on")
        db.db.run(_AGGREGATE, (seller.id,))
    return time.perf_counter() - started
