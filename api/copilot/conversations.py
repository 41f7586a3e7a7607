"""Conversations with the co-pilot: questions, what the model looks at, the end. Each person has their own.

Source: core spec, section 5 "Plan gates" (AI co-pilot, dashboard only).
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.copilot import calls, shown, toolbox
from api.edge import answers, audit, body, paging, path
from api.edge.operations import one, operation, page
from domain.refused import not_found
from models import db
from models.copilot import conversations
from pipelines.copilot import questions, tool_calls
from schemas.copilot import CopilotConversationRecord, CopilotQuestion, CopilotSummary
from schemas.paging import PageQuery

blueprint = Blueprint("copilot", __name__)

_HERE = "/api/v1/copilot/conversations"
_ONE = f"{_HERE}/<conversation_id>"
_WHAT = "conversation"
_SUMMARY = CopilotSummary()


@blueprint.get(_HERE)
@operation(toolbox.READS, page(CopilotSummary()), asks=PageQuery(), refuses=("404 not_found",))
def list_copilot_conversations() -> Mapping[str, object]:
    """List your conversations with the co-pilot, newest first. Budget: 1 statement."""
    toolbox.check_is_on()
    caller = guards.caller()
    asked = paging.wanted(body.query())
    with db.unit_of_work(caller.organization_id):
        rows = conversations.page(
            organization_id=caller.organization_id,
            member_id=caller.member_id,
            after=asked.after,
            limit=asked.limit,
        )
    return paging.envelope(asked, rows, lambda some: [_SUMMARY.dump(row) for row in some])


@blueprint.post(_HERE)
@operation(
    toolbox.ASKS, one(CopilotConversationRecord()), status=201, takes=CopilotQuestion(), refuses=("404 not_found",)
)
def create_copilot_conversation() -> Response:
    """Begin a conversation with a question. 201; the answer comes to the conversation, which you look at again."""
    toolbox.check_is_on()
    wanted = body.load()
    return answers.once(lambda: _begin(wanted))


def _begin(wanted: Mapping[str, Any]) -> answers.Answer:
    now = clock.now()
    made = questions.start(toolbox.asker(), wanted["text"], now=now)
    audit.record("copilot_conversation.created", made.id, now=now)
    return 201, shown.whole(made)


@blueprint.get(_ONE)
@operation(toolbox.READS, one(CopilotConversationRecord()), refuses=("404 not_found",))
def get_copilot_conversation(conversation_id: str) -> Mapping[str, Any]:
    """Show a conversation of yours. Budget: 3 statements."""
    toolbox.check_is_on()
    return shown.found(path.uuid(conversation_id, _WHAT))


@blueprint.delete(_ONE)
@operation(toolbox.ASKS, status=204, refuses=("404 not_found",))
def delete_copilot_conversation(conversation_id: str) -> Response:
    """Delete a conversation of yours with all that was said in it. What was done stays done. 204."""
    toolbox.check_is_on()
    wanted_id, caller = path.uuid(conversation_id, _WHAT), guards.caller()
    with db.unit_of_work(caller.organization_id):
        is_gone = conversations.delete(
            organization_id=caller.organization_id, member_id=caller.member_id, conversation_id=wanted_id
        )
        if not is_gone:
            raise not_found(_WHAT, wanted_id)
        audit.record("copilot_conversation.deleted", wanted_id, now=clock.now())
    return Response(status=204)


@blueprint.post(f"{_ONE}/messages")
@operation(
    toolbox.ASKS,
    one(CopilotConversationRecord()),
    takes=CopilotQuestion(),
    refuses=("404 not_found", "409 copilot_busy", "409 copilot_conversation_full"),
)
def send_copilot_message(conversation_id: str) -> Response:
    """Ask something more in a conversation. What was proposed and not decided is declined by that."""
    toolbox.check_is_on()
    wanted_id, wanted = path.uuid(conversation_id, _WHAT), body.load()
    return answers.once(lambda: _ask(wanted_id, wanted))


def _ask(wanted_id: UUID, wanted: Mapping[str, Any]) -> answers.Answer:
    asked = questions.ask(toolbox.asker(), wanted_id, wanted["text"], now=clock.now())
    return 200, shown.whole(asked)


@blueprint.post(f"{_ONE}/retry")
@operation(
    toolbox.ASKS,
    one(CopilotConversationRecord()),
    refuses=("404 not_found", "409 copilot_busy", "409 nothing_to_retry"),
)
def retry_copilot_question(conversation_id: str) -> Response:
    """Ask the model once more what it gave no answer to."""
    toolbox.check_is_on()
    wanted_id = path.uuid(conversation_id, _WHAT)
    return answers.once(lambda: (200, shown.whole(questions.retry(toolbox.asker(), wanted_id, now=clock.now()))))


@blueprint.post(f"{_ONE}/steps")
@operation(toolbox.ASKS, one(CopilotConversationRecord()), refuses=("404 not_found",))
def run_copilot_steps(conversation_id: str) -> Mapping[str, Any]:
    """Look up what the model wants to see, as you, and show the conversation; what it wants done is only proposed.

    Does nothing where the model wants nothing, so it may be asked again and again. Budget: 4 statements then.
    """
    toolbox.check_is_on()
    wanted_id, who = path.uuid(conversation_id, _WHAT), toolbox.of_person()
    with db.unit_of_work(who.organization_id):
        taken = tool_calls.take(who, wanted_id, now=clock.now())
    if taken is not None:
        found = calls.outcomes(list(taken.calls))
        with db.unit_of_work(who.organization_id):
            tool_calls.record(who, taken, found, now=clock.now())
    return shown.found(wanted_id)
