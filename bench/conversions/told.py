"""A page of what an endpoint was told, by each filter that an index answers.

What is rare lies behind everything else, and is as many however long the history.
Out: `Pending` where few are. No index has those, since a delivery that arrives would be written into every index anew.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from bench.conversions.screen import Timed
from bench.figure import mean_ms
from bench.ground import history
from bench.ground.brand import Brand
from bench.ground.machine import BenchFailed
from bench.plan import Plan
from bench.screen import Report
from models import db
from models.webhooks import outbox
from models.webhooks.outbox import WantedDeliveries

_READS, _TAKE = 40, 50
_RARE = "payout.paid"
_SINCE, _UNTIL = datetime.now(UTC) - timedelta(days=365), datetime.now(UTC) + timedelta(days=1)
_PAGES = {
    "none": WantedDeliveries(),
    "Delivered": WantedDeliveries(status="Delivered"),
    "Failed": WantedDeliveries(status="Failed"),
    "type": WantedDeliveries(event_type=_RARE),
    "type, Delivered": WantedDeliveries(status="Delivered", event_type=_RARE),
    "type, Failed": WantedDeliveries(status="Failed", event_type=_RARE),
    "type, dated": WantedDeliveries(None, _RARE, _SINCE, _UNTIL),
    "type, Failed, dated": WantedDeliveries("Failed", _RARE, _SINCE, _UNTIL),
}

# One second apart, ending now. Of the first 240 half are of the rare type, and half of either were given up.
_LOAD = """
insert into delivery (id, organization_id, event_id, endpoint_id, event_type, status, attempt_count, created_at,
    settled_at)
  select gen_random_uuid(), %(org)s, uuidv7(make_interval(secs => n - %(all)s)), %(endpoint)s,
    case when n <= 240 and n %% 2 = 0 then %(rare)s else 'conversion.created' end,
    case when n <= 240 and n / 2 %% 2 = 0 then 'Failed' else 'Delivered' end, 1, at, at
  from (select n, now() + make_interval(secs => n - %(all)s) as at
    from generate_series(%(first)s::int, %(last)s::int) n) made
"""


@dataclass(frozen=True, slots=True)
class ToldEndpoint:
    """An endpoint with its deliveries, in one database."""

    url: str
    seller: Brand
    id: UUID


def load(cursor: Any, seller: Brand, endpoint_id: UUID, deliveries: int, report: Report) -> None:
    """Insert settled deliveries to an endpoint, without their events."""
    facts = {"org": seller.id, "endpoint": endpoint_id, "all": deliveries, "rare": _RARE}
    history.insert(cursor, _LOAD, facts, deliveries, report)


def pages(plan: Plan, *, many: ToldEndpoint, few: ToldEndpoint) -> dict[str, tuple[Timed, Timed]]:
    """Return what times each page in both databases."""
    return {
        name: (partial(_mean_ms, plan, many, wanted), partial(_mean_ms, plan, few, wanted))
        for name, wanted in _PAGES.items()
    }


def _mean_ms(plan: Plan, endpoint: ToldEndpoint, wanted: WantedDeliveries) -> float:
    plan.machine.point_at(endpoint.url)
    _read(endpoint, wanted)
    return mean_ms(partial(_read, endpoint, wanted), _READS)


def _read(endpoint: ToldEndpoint, wanted: WantedDeliveries) -> None:
    organization_id = endpoint.seller.id
    with db.unit_of_work(organization_id):
        page = outbox.history(
            organization_id=organization_id, endpoint_id=endpoint.id, wanted=wanted, after=None, limit=_TAKE
        )
    if len(page) != _TAKE:
        raise BenchFailed(f"a page has {len(page)} deliveries")
