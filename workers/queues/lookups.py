"""The `lookups` queue: newsletter and CRM platforms are asked who brought a buyer. A slow one holds up no sale here."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from adapters import clock
from domain import jobs
from models.jobs.rows import ClaimedJob
from pipelines.platforms import lookup
from workers.actor import calling_job


def _prepare(job: ClaimedJob) -> lookup.PreparedLookup | None:
    return lookup.prepare(organization_id=job.tenant, lookup_id=UUID(job.args["lookup_id"]))


def _record(prepared: lookup.PreparedLookup, said: Sequence[lookup.PlatformSaid]) -> datetime | None:
    return lookup.record(prepared, said, now=clock.now())


def _why(prepared: lookup.PreparedLookup, said: Sequence[lookup.PlatformSaid]) -> str:
    away = [f"{one.connection.platform}: {one.away}" for one in said if one.away is not None]
    return ", ".join(away) or "the platforms do not know the buyer yet"


calling_job(jobs.PLATFORM_LOOKUP, prepare=_prepare, call=lookup.ask, record=_record, why=_why)
