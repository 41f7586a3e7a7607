"""A user's requests to the co-pilot: ask, retry, and confirm or decline what it proposed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from domain.copilot.states import (
    ACT_TIMEOUT,
    MAX_QUESTIONS,
    MODEL_TIMEOUT,
    ActState,
    ConversationState,
    CopilotFailure,
    EntryKind,
)
from domain.refusals import Refused, not_found
from models import ids
from models.copilot import acts, conversations
from models.copilot.acts import CopilotAct
from models.copilot.conversations import CopilotConversation
from pipelines.copilot import transcript
from pipelines.copilot.transcript import TranscriptEntry

_MAX_TITLE = 80
_OPEN_STATES = (ActState.Proposed, ActState.Running)
_DECLINED = {"error": "declined_by_user", "message": "The person did not want this; nothing was done."}
_EXPIRED = {"error": "expired", "message": "The person did not confirm this in time; nothing was done."}


@dataclass(frozen=True, slots=True)
class CopilotUser:
    """The user: a member of an organization, their role, and the tools of that role (the JSON of a list)."""

    organization_id: UUID
    member_id: UUID
    role: str
    tools: str


def start(user: CopilotUser, text: str, *, now: datetime) -> CopilotConversation:
    """Start a conversation with a question."""
    title = " ".join(text.split())
    conversation = conversations.insert(
        {
            "id": ids.new_id(),
            "organization_id": user.organization_id,
            "member_id": user.member_id,
            "title": title if len(title) <= _MAX_TITLE else f"{title[:_MAX_TITLE]}…",
            "state": ConversationState.Thinking,
            "turn": 1,
            "rounds": 1,
            "questions": 1,
            "entries": 1,
            "role": user.role,
            "tools": user.tools,
            "created_at": now,
            "changed_at": now,
        }
    )
    transcript.stage_entries(conversation, 1, [TranscriptEntry(EntryKind.Question, text)], now=now)
    transcript.stage_model_call(conversation, conversation.turn)
    return conversation


def ask(user: CopilotUser, conversation_id: UUID, text: str, *, now: datetime) -> CopilotConversation:
    """Ask another question. It declines acts that were proposed and not decided.

    Raises Refused: 404; 409 copilot_busy while the model works, copilot_conversation_full.
    """
    conversation = _lock_idle(user, conversation_id, now=now)
    if conversation.questions >= MAX_QUESTIONS:
        message = f"A conversation takes {MAX_QUESTIONS} questions. Start another one."
        raise Refused(409, "copilot_conversation_full", message)
    new_entries = _decline_proposed(conversation)
    updated = conversations.change(
        conversation, {"questions": conversation.questions + 1, "rounds": 0, "role": user.role}
    )
    conversations.stage_tools(updated, user.tools)
    return transcript.ask_model(updated, [*new_entries, TranscriptEntry(EntryKind.Question, text)], now=now)


def retry(user: CopilotUser, conversation_id: UUID, *, now: datetime) -> CopilotConversation:
    """Ask the model the last, failed question again. Raises Refused: 404; 409 copilot_busy, nothing_to_retry."""
    conversation = _lock_idle(user, conversation_id, now=now)
    if conversation.state != ConversationState.Failed:
        raise Refused(409, "nothing_to_retry", "The last question has an answer.")
    updated = conversations.change(conversation, {"rounds": 0, "role": user.role})
    conversations.stage_tools(updated, user.tools)
    return transcript.ask_model(updated, [], now=now)


def claim(user: CopilotUser, conversation_id: UUID, act_id: UUID, *, now: datetime) -> CopilotAct | None:
    """Claim a confirmed act so that no other request runs it; None if it is decided or running.

    An act whose process died can be claimed again after a minute. Raises Refused: 404; 409 copilot_act_expired.
    """
    _, act = _lock_act(user, conversation_id, act_id)
    is_abandoned = act.state == ActState.Running and act.begun_at is not None and now - act.begun_at >= ACT_TIMEOUT
    if act.state != ActState.Proposed and not is_abandoned:
        return None
    if act.state == ActState.Proposed and now >= act.expires_at:
        raise Refused(409, "copilot_act_expired", "This was proposed too long ago. Ask for it again.")
    return acts.change(act, {"state": ActState.Running, "begun_at": now})


def unclaim(user: CopilotUser, act: CopilotAct) -> None:
    """Make an act that could not run now confirmable again."""
    _, current = _lock_act(user, act.conversation_id, act.id)
    if current.state == ActState.Running and current.begun_at == act.begun_at:
        acts.change(current, {"state": ActState.Proposed, "begun_at": None})


def finish(user: CopilotUser, act: CopilotAct, result: Mapping[str, Any], *, is_done: bool, now: datetime) -> None:
    """Record the operation's answer to a confirmed act; then the conversation continues."""
    conversation, current = _lock_act(user, act.conversation_id, act.id)
    if current.state != ActState.Running:
        return
    acts.change(current, {"state": ActState.Done if is_done else ActState.Failed, "result": result})
    _record_decision(conversation, current, result, now=now)


def decline(user: CopilotUser, conversation_id: UUID, act_id: UUID, *, now: datetime) -> None:
    """Decline an act; one that is already decided stays unchanged. Raises Refused (404)."""
    conversation, act = _lock_act(user, conversation_id, act_id)
    if act.state != ActState.Proposed:
        return
    is_expired = now >= act.expires_at
    result = _EXPIRED if is_expired else _DECLINED
    acts.change(act, {"state": ActState.Expired if is_expired else ActState.Declined, "result": result})
    _record_decision(conversation, act, result, now=now)


def _record_decision(
    conversation: CopilotConversation, act: CopilotAct, result: Mapping[str, Any], *, now: datetime
) -> None:
    """Record a decision; call the model once every act of its reply is decided."""
    new_entries = [TranscriptEntry(EntryKind.Result, orjson.dumps(result).decode(), call_id=act.call_id)]
    others = acts.list_of_conversation(conversation.organization_id, conversation.id)
    if conversation.state == ConversationState.Asking and not any(other.state in _OPEN_STATES for other in others):
        transcript.ask_model(conversation, new_entries, now=now)
    else:
        unchanged = {"failure": conversation.failure, "begun_at": conversation.begun_at}
        transcript.add(conversation, new_entries, unchanged, now=now)


def _decline_proposed(conversation: CopilotConversation) -> Sequence[TranscriptEntry]:
    """Decline acts that are proposed and not decided. Running acts are neither declined nor waited for."""
    new_entries = []
    for act in acts.list_of_conversation(conversation.organization_id, conversation.id):
        if act.state == ActState.Proposed:
            locked = acts.lock(organization_id=act.organization_id, conversation_id=act.conversation_id, act_id=act.id)
            assert locked is not None  # its conversation is locked, and an act is never deleted by itself
            acts.change(locked, {"state": ActState.Declined, "result": _DECLINED})
            new_entries.append(TranscriptEntry(EntryKind.Result, orjson.dumps(_DECLINED).decode(), call_id=act.call_id))
    return new_entries


def lock_conversation(user: CopilotUser, conversation_id: UUID) -> CopilotConversation:
    """Return a user's conversation, locked. Raises Refused 404."""
    conversation = conversations.lock(
        organization_id=user.organization_id, member_id=user.member_id, conversation_id=conversation_id
    )
    if conversation is None:
        raise not_found("conversation", conversation_id)
    return conversation


def _lock_idle(user: CopilotUser, conversation_id: UUID, *, now: datetime) -> CopilotConversation:
    """Return a user's idle conversation, locked. Raises Refused: 404; 409 copilot_busy."""
    conversation = lock_conversation(user, conversation_id)
    if conversation.state in (ConversationState.Thinking, ConversationState.Working):
        if now - conversation.changed_at < MODEL_TIMEOUT:
            raise Refused(409, "copilot_busy", "The co-pilot is still working on the last question.")
        return transcript.fail(conversation, CopilotFailure.Silent, now=now)
    return conversation


def _lock_act(user: CopilotUser, conversation_id: UUID, act_id: UUID) -> tuple[CopilotConversation, CopilotAct]:
    conversation = lock_conversation(user, conversation_id)
    act = acts.lock(organization_id=user.organization_id, conversation_id=conversation_id, act_id=act_id)
    if act is None:
        raise not_found("act", act_id)
    return conversation, act
