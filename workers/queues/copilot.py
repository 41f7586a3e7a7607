"""The `copilot` queue: requests to the model. One may take a minute, so no other jobs are in this queue."""

from uuid import UUID

from adapters import clock
from domain import jobs
from domain.copilot.replies import ModelReply
from domain.copilot.states import CopilotFailure
from models.jobs.rows import ClaimedJob
from pipelines.copilot import model_calls
from pipelines.copilot.model_calls import PreparedPrompt
from workers.actor import register_calling_job


def _prepare(job: ClaimedJob) -> PreparedPrompt | None:
    return model_calls.prepare(
        organization_id=job.tenant,
        conversation_id=UUID(job.args["conversation_id"]),
        turn=int(job.args["turn"]),
        now=clock.now(),
    )


def _record(prepared: PreparedPrompt, answer: ModelReply | CopilotFailure) -> None:
    model_calls.record(prepared, answer, now=clock.now())


register_calling_job(jobs.COPILOT_ASK, prepare=_prepare, call=model_calls.call, record=_record)
