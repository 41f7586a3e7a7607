"""The `copilot` queue: requests to the model. One may take a minute, so no other jobs are in this queue."""

from uuid import UUID

from adapters import clock
from domain import jobs
from domain.copilot.replies import ModelReply
from domain.copilot.states import CopilotFailure
from models.jobs.rows import ClaimedJob
from pipelines.copilot import answering
from pipelines.copilot.answering import PreparedPrompt
from workers.actor import register_calling_job


def _prepare(job: ClaimedJob) -> PreparedPrompt | None:
    return answering.prepare(
        organization_id=job.tenant,
        conversation_id=UUID(job.args["conversation_id"]),
        turn=int(job.args["turn"]),
        now=clock.now(),
    )


def _record(prepared: PreparedPrompt, answer: ModelReply | CopilotFailure) -> None:
    answering.record(prepared, answer, now=clock.now())


register_calling_job(jobs.COPILOT_ASK, prepare=_prepare, call=answering.call, record=_record)
