"""The `copilot` queue: requests to the model. One may take a minute, so no other jobs are in this queue."""

from uuid import UUID

from adapters import clock
from domain import jobs
from pipelines.copilot import model_calls
from workers.actor import register_calling_job

register_calling_job(
    jobs.COPILOT_ASK,
    prepare=lambda job: model_calls.prepare(
        organization_id=job.tenant,
        conversation_id=UUID(job.args["conversation_id"]),
        turn=int(job.args["turn"]),
        now=clock.now(),
    ),
    call=model_calls.call,
    record=lambda prepared, answer: model_calls.record(prepared, answer, now=clock.now()),
)
