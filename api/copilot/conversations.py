"""Conversations with the co-pilot: questions, look-ups of the model, deletion. Each person sees only their own.

Source: core spec, section 5 "Plan gates" (AI co-pilot, dashboard only).
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.copilot import serializers, tool_runs, toolbox
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.refusals import not_found
from models import db
from models.copilot import conversations
from pipelines.copilot import questions, tool_calls
from schemas.copilot import CopilotConversationRecord, CopilotQuestion, CopilotSummary
from schemas.paging import PageQuery

blueprint = Blueprint("copilot", __name__)

_CONVERSATIONS = "/api/v1/copilot/conversations"
_CONVERSATION = f"{_CONVERSATIONS}/<conversation_id>"
_NOUN = "conversation"
_SUMMARY = CopilotSummary()


@blueprint.get(_CONVERSATIONS)
@operation(toolbox.READS, page(CopilotSummary()), asks=PageQuery(), refuses=("404 not_found",))
def list_copilot_conversations() -> Mapping[str, object]:
    """List your conversations with the co-pilot, newest first. Budget: 1 statement."""
    toolbox.check_is_on()
    caller = guards.caller()
    page_request = paging.read_page_request(body.query())
    with db.unit_of_work(caller.organization_id):
        rows = conversations.page(
            organization_id=caller.organization_id, member_id=caller.member_id, **page_request.window
        )
    return paging.serialize_page(page_request, rows, lambda some: [_SUMMARY.dump(row) for row in some])


@blueprint.post(_CONVERSATIONS)
@operation(
    toolbox.ASKS,
    object_of(CopilotConversationRecord()),
    status=201,
    takes=CopilotQuestion(),
    refuses=("404 not_found",),
)
def create_copilot_conversation() -> Response:
    """Begin a conversation with a question. 201; the answer is added to the conversation, so read it again."""
    toolbox.check_is_on()
    requested = body.load()
    return idempotency.run_once(lambda: _begin(requested))


def _begin(requested: Mapping[str, Any]) -> idempotency.Answer:
    now = clock.now()
    conversation = questions.start(toolbox.asker_with_tools(), requested["text"], now=now)
    audit.record("copilot_conversation.created", conversation.id, now=now)
    return 201, serializers.serialize_conversation(conversation)


@blueprint.get(_CONVERSATION)
@operation(toolbox.READS, object_of(CopilotConversationRecord()), refuses=("404 not_found",))
def get_copilot_conversation(conversation_id: str) -> Mapping[str, Any]:
    """Show one of your conversations. Budget: 3 statements."""
    toolbox.check_is_on()
    return serializers.find_conversation(path.uuid(conversation_id, _NOUN))


@blueprint.delete(_CONVERSATION)
@operation(toolbox.ASKS, status=204, refuses=("404 not_found",))
def delete_copilot_conversation(conversation_id: str) -> Response:
    """Delete one of your conversations with its messages. Actions that were run stay in effect. 204."""
    toolbox.check_is_on()
    wanted_id, caller = path.uuid(conversation_id, _NOUN), guards.caller()
    with db.unit_of_work(caller.organization_id):
        is_gone = conversations.delete(
            organization_id=caller.organization_id, member_id=caller.member_id, conversation_id=wanted_id
        )
        if not is_gone:
            raise not_found(_NOUN, wanted_id)
        audit.record("copilot_conversation.deleted", wanted_id, now=clock.now())
    return Response(status=204)


@blueprint.post(f"{_CONVERSATION}/messages")
@operation(
    toolbox.ASKS,
    object_of(CopilotConversationRecord()),
    takes=CopilotQuestion(),
    refuses=("404 not_found", "409 copilot_busy", "409 copilot_conversation_full"),
)
def send_copilot_message(conversation_id: str) -> Response:
    """Send another question in a conversation. Proposals that are not decided yet are declined."""
    toolbox.check_is_on()
    wanted_id, requested = path.uuid(conversation_id, _NOUN), body.load()
    return idempotency.run_once(lambda: _ask(wanted_id, requested))


def _ask(wanted_id: UUID, requested: Mapping[str, Any]) -> idempotency.Answer:
    conversation = questions.ask(toolbox.asker_with_tools(), wanted_id, requested["text"], now=clock.now())
    return 200, serializers.serialize_conversation(conversation)


@blueprint.post(f"{_CONVERSATION}/retry")
@operation(
    toolbox.ASKS,
    object_of(CopilotConversationRecord()),
    refuses=("404 not_found", "409 copilot_busy", "409 nothing_to_retry"),
)
def retry_copilot_question(conversation_id: str) -> Response:
    """Send the model a question again that it did not answer."""
    toolbox.check_is_on()
    wanted_id = path.uuid(conversation_id, _NOUN)
    return idempotency.run_once(
        lambda: (
            200,
            serializers.serialize_conversation(questions.retry(toolbox.asker_with_tools(), wanted_id, now=clock.now())),
        )
    )


@blueprint.post(f"{_CONVERSATION}/steps")
@operation(toolbox.ASKS, object_of(CopilotConversationRecord()), refuses=("404 not_found",))
def run_copilot_steps(conversation_id: str) -> Mapping[str, Any]:
    """Run the model's pending read calls as you, and show the conversation; its write calls become proposals.

    Does nothing without pending calls, so it can be polled. Budget: 4 statements then.
    """
    toolbox.check_is_on()
    wanted_id, member = path.uuid(conversation_id, _NOUN), toolbox.asker_without_tools()
    with db.unit_of_work(member.organization_id):
        pending = tool_calls.take(member, wanted_id, now=clock.now())
    if pending is not None:
        outcomes = tool_runs.run_calls(list(pending.calls))
        with db.unit_of_work(member.organization_id):
            tool_calls.record(member, pending, outcomes, now=clock.now())
    return serializers.find_conversation(wanted_id)
