"""A worker's call to the model: prepare (tx), call (no tx), record (tx). It runs no operation for the model.

A call without an answer is not retried automatically: the user sees why, and decides.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import structlog

import settings
from adapters import copilot
from adapters.copilot import ModelUnavailable
from domain.copilot import prompts, replies
from domain.copilot.prompts import PromptEntry
from domain.copilot.replies import ModelReply, NotAReply
from domain.copilot.states import MAX_ROUNDS, ConversationState, CopilotFailure, EntryKind
from models.copilot import conversations, daily_usage, entries
from models.copilot.conversations import CopilotConversation
from pipelines.copilot import transcript
from pipelines.copilot.transcript import TranscriptEntry

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PreparedPrompt:
    """The request to the model for a turn of a conversation; its `tokens` are counted on `day`."""

    organization_id: UUID
    conversation_id: UUID
    turn: int
    body: bytes
    tokens: int
    day: date


def prepare(*, organization_id: UUID, conversation_id: UUID, turn: int, now: datetime) -> PreparedPrompt | None:
    """Return the request, counted against the day's budget; None if no answer is awaited or the budget is used up."""
    conversation = _lock_if_thinking(organization_id, conversation_id, turn)
    options = settings.current().copilot
    if conversation is None:
        return None
    if options.model is None:  # the co-pilot was switched off since
        transcript.fail(conversation, CopilotFailure.Away, now=now)
        return None
    messages = [
        PromptEntry(entry.kind, entry.text, entry.calls, entry.call_id)
        for entry in entries.list_of_conversation(organization_id, conversation_id)
    ]
    body = prompts.body(
        model=options.model,
        tools=conversations.find_tools(conversation),
        entries=messages,
        role=conversation.role,
        now=now,
        round_number=conversation.rounds,
    )
    tokens, day = prompts.estimate(body), now.date()
    has_left = daily_usage.charge(
        organization_id=organization_id,
        day=day,
        tokens=tokens,
        max_tokens=options.daily_tokens,
        max_requests=options.daily_requests,
    )
    if not has_left:
        transcript.fail(conversation, CopilotFailure.Budget, now=now)
        return None
    return PreparedPrompt(organization_id, conversation_id, turn, body, tokens, day)


def call(prepared: PreparedPrompt) -> ModelReply | CopilotFailure:
    """Call the endpoint and return its reply, or the reason for the failure."""
    try:
        answer = copilot.complete(prepared.body)
    except ModelUnavailable as error:
        _log.warning("copilot.away", why=str(error))
        return error.failure
    try:
        reply = replies.read(answer)
    except NotAReply as error:
        _log.warning("copilot.unreadable", why=str(error))
        return CopilotFailure.Unreadable
    tokens = reply.tokens if reply.tokens is not None else prepared.tokens + prompts.estimate(answer)
    return ModelReply(reply.text, reply.calls, reply.left_out, tokens)


def record(prepared: PreparedPrompt, answer: ModelReply | CopilotFailure, *, now: datetime) -> None:
    """Record a reply; the user's next request runs its calls. Late replies are counted and dropped."""
    if isinstance(answer, ModelReply) and answer.tokens is not None:
        difference = answer.tokens - prepared.tokens
        daily_usage.stage_correct(organization_id=prepared.organization_id, day=prepared.day, by=difference)
    conversation = _lock_if_thinking(prepared.organization_id, prepared.conversation_id, prepared.turn)
    if conversation is None:
        return
    if isinstance(answer, CopilotFailure):
        transcript.fail(conversation, answer, now=now)
    elif not answer.calls:
        new_entries = [TranscriptEntry(EntryKind.Reply, answer.text)]
        transcript.add(conversation, new_entries, {"state": ConversationState.Answered}, now=now)
    elif conversation.rounds >= MAX_ROUNDS:
        transcript.fail(conversation, CopilotFailure.Rounds, now=now)
    else:
        transcript.add(
            conversation, [_reply_entry(conversation, answer)], {"state": ConversationState.Working}, now=now
        )


def _reply_entry(conversation: CopilotConversation, answer: ModelReply) -> TranscriptEntry:
    """Return the entry of a reply, with ids that we assign to its calls."""
    calls: list[dict[str, Any]] = [
        {"id": f"call_{conversation.turn}_{number}", "tool": wish.tool, "arguments": wish.arguments}
        for number, wish in enumerate(answer.calls, 1)
    ]
    if answer.left_out:
        calls[-1]["left_out"] = answer.left_out
    return TranscriptEntry(EntryKind.Reply, answer.text, calls)


def _lock_if_thinking(organization_id: UUID, conversation_id: UUID, turn: int) -> CopilotConversation | None:
    conversation = conversations.lock_any(organization_id=organization_id, conversation_id=conversation_id)
    is_thinking = (
        conversation is not None and conversation.state == ConversationState.Thinking and conversation.turn == turn
    )
    return conversation if is_thinking else None
