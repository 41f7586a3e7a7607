"""What has passed its hold is approved, without a word: only a person's approval is an event.

Whether a conversion can be paid never depends on this having run.
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
