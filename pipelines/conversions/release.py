"""Approves conversions whose hold has passed. It emits no event: only a person's approval does.

Payouts do not depend on it: a conversion whose hold has passed can be paid before this runs.
Source: core spec, section 3 "States" (Conversion) and "Organization profile" (payoutGraceDays).
"""

from datetime import datetime

from domain import jobs
from models.conversions import reviews
from pipelines import work

_BATCH = 5_000


def any_org_release(*, now: datetime) -> None:
    """Approve the next Pending conversions whose hold has passed, and stage the job for the rest. Idempotent."""
    if reviews.any_org_release(now=now, limit=_BATCH) == _BATCH:
        work.enqueue(jobs.HOLD_RELEASE, organization_id=None)
