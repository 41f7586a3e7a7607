"""The model is asked, by a worker: prepare (tx), call (no tx), record (tx). Whatever it answers, nothing is done here.

A model that gives no answer is not asked again by itself: the person sees why, and decides.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import structlog

import settings
from adapters import copilot
from adapters.copilot import ModelAway
from domain.copilot import prompts, replies
from domain.copilot.prompts import PromptEntry
from domain.copilot.replies import ModelReply, NotAReply
from domain.copilot.states import MAX_ROUNDS, ConversationState, CopilotFailure, EntryKind
from models.copilot import conversations, days, entries
from models.copilot.conversations import CopilotConversation
from pipelines.copilot import talk
from pipelines.copilot.talk import Words

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PreparedPrompt:
    """What the model is to be sent, for which turn of which conversation; `tokens` are counted for it on `day`."""

    organization_id: UUID
    conversation_id: UUID
    turn: int
    body: bytes
    tokens: int
    day: date


def prepare(*, organization_id: UUID, conversation_id: UUID, turn: int, now: datetime) -> PreparedPrompt | None:
    """Return what to send, counted against the day; None when nobody waits, and for more than it has left."""
    held = _awaited(organization_id, conversation_id, turn)
    chosen = settings.current().copilot
    if held is None:
        return None
    if chosen.model is None:  # it was switched off since
        talk.fail(held, CopilotFailure.Away, now=now)
        return None
    said = [
        PromptEntry(one.kind, one.text, one.calls, one.call_id) for one in entries.of(organization_id, conversation_id)
    ]
    body = prompts.body(
        model=chosen.model,
        tools=conversations.tools(held),
        entries=said,
        role=held.role,
        now=now,
        round_number=held.rounds,
    )
    tokens, day = prompts.estimate(body), now.date()
    has_left = days.charge(
        organization_id=organization_id,
        day=day,
        tokens=tokens,
        most_tokens=chosen.daily_tokens,
        most_requests=chosen.daily_requests,
    )
    if not has_left:
        talk.fail(held, CopilotFailure.Budget, now=now)
        return None
    return PreparedPrompt(organization_id, conversation_id, turn, body, tokens, day)


def call(prepared: PreparedPrompt) -> ModelReply | CopilotFailure:
    """Ask the endpoint and read its reply, or why there is none."""
    try:
        answer = copilot.complete(prepared.body)
    except ModelAway as away:
        _log.warning("copilot.away", why=str(away))
        return away.failure
    try:
        reply = replies.read(answer)
    except NotAReply as error:
        _log.warning("copilot.unreadable", why=str(error))
        return CopilotFailure.Unreadable
    counted = reply.tokens if reply.tokens is not None else prepared.tokens + prompts.estimate(answer)
    return ModelReply(reply.text, reply.calls, reply.left_out, counted)


def record(prepared: PreparedPrompt, answer: ModelReply | CopilotFailure, *, now: datetime) -> None:
    """Write down a reply; the person's next request does what it wants. Late ones are counted and dropped."""
    if isinstance(answer, ModelReply) and answer.tokens is not None:
        by = answer.tokens - prepared.tokens
        days.stage_correct(organization_id=prepared.organization_id, day=prepared.day, by=by)
    held = _awaited(prepared.organization_id, prepared.conversation_id, prepared.turn)
    if held is None:
        return
    if isinstance(answer, CopilotFailure):
        talk.fail(held, answer, now=now)
    elif not answer.calls:
        words = [Words(EntryKind.Reply, answer.text)]
        talk.add(held, words, {"state": ConversationState.Answered}, now=now)
    elif held.rounds >= MAX_ROUNDS:
        talk.fail(held, CopilotFailure.Rounds, now=now)
    else:
        talk.add(held, [_reply(held, answer)], {"state": ConversationState.Working}, now=now)


def _reply(held: CopilotConversation, answer: ModelReply) -> Words:
    """Return a reply with its calls under ids of ours."""
    calls: list[dict[str, Any]] = [
        {"id": f"call_{held.turn}_{number}", "tool": wish.tool, "arguments": wish.arguments}
        for number, wish in enumerate(answer.calls, 1)
    ]
    if answer.left_out:
        calls[-1]["left_out"] = answer.left_out
    return Words(EntryKind.Reply, answer.text, calls)


def _awaited(organization_id: UUID, conversation_id: UUID, turn: int) -> CopilotConversation | None:
    held = conversations.lock_any(organization_id=organization_id, conversation_id=conversation_id)
    is_awaited = held is not None and held.state == ConversationState.Thinking and held.turn == turn
    return held if is_awaited else None
