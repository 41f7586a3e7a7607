"""Gateway events whose job an operator discarded: the inbox lists them as Failed, from where they can be replayed."""

from collections.abc import Sequence
from uuid import UUID

from domain import jobs
from models.db import db

_STAGE = """
update gateway_event e set status = 'Failed', reason = 'discarded', processed_at = now(),
  error = 'The operator discarded the work on this event. Replay it to have it booked.'
where e.id = any(%(ids)s::uuid[]) and e.status in ('Received', 'Parked', 'Failed')
  and not exists (select from job j where j.queue = %(queue)s and j.fair_key = e.organization_id::text
    and j.name = %(name)s and j.failed_at is null and j.args ->> 'event_id' = e.id::text)
"""


def any_org_stage_failed(event_ids: Sequence[UUID]) -> None:
    """Stage that events whose job was discarded are Failed, unless they are done or have another job."""
    names = {"queue": jobs.GATEWAY_EVENT.queue, "name": jobs.GATEWAY_EVENT.name}
    db.stage(_STAGE, {"ids": list(event_ids), **names})
