"""The `lookups` queue: searches newsletter and CRM platforms for a buyer's referrer. A slow one delays no sale."""

from collections.abc import Sequence
from uuid import UUID

from adapters import clock
from domain import jobs
from pipelines.platforms import lookup
from workers.actor import register_calling_job


def _reason(prepared: lookup.PreparedLookup, answers: Sequence[lookup.PlatformAnswer]) -> str:
    errors = [
        f"{answer.connection.platform}: {answer.unreachable_reason}"
        for answer in answers
        if answer.unreachable_reason is not None
    ]
    return ", ".join(errors) or "the platforms do not know the buyer yet"


register_calling_job(
    jobs.PLATFORM_LOOKUP,
    prepare=lambda job: lookup.prepare(organization_id=job.tenant, lookup_id=UUID(job.args["lookup_id"])),
    call=lookup.ask_platforms,
    record=lambda prepared, answers: lookup.record(prepared, answers, now=clock.now()),
    why=_reason,
)
