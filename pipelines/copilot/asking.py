"""What a person says to the co-pilot: a question, the same once more, and yes or no to what it proposed."""

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
from pipelines.copilot import talk
from pipelines.copilot.talk import Words

_LONGEST_TITLE = 80
_OPEN = (ActState.Proposed, ActState.Running)
_DECLINED = {"error": "declined_by_user", "message": "The person did not want this; nothing was done."}
_EXPIRED = {"error": "expired", "message": "The person did not confirm this in time; nothing was done."}


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: a person of an organization in their role, and the tools of that role (the JSON of a list)."""

    organization_id: UUID
    member_id: UUID
    role: str
    tools: str


def begin(asker: Asker, text: str, *, now: datetime) -> CopilotConversation:
    """Begin a conversation with a question."""
    title = " ".join(text.split())
    made = conversations.insert(
        {
            "id": ids.new_id(),
            "organization_id": asker.organization_id,
            "member_id": asker.member_id,
            "title": title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…",
            "state": ConversationState.Thinking,
            "turn": 1,
            "rounds": 1,
            "questions": 1,
            "entries": 1,
            "role": asker.role,
            "tools": asker.tools,
            "created_at": now,
            "changed_at": now,
        }
    )
    talk.stage_words(made, 1, [Words(EntryKind.Question, text)], now=now)
    talk.stage_asking(made, made.turn)
    return made


def ask(asker: Asker, conversation_id: UUID, text: str, *, now: datetime) -> CopilotConversation:
    """Ask something more. What was proposed and not decided is declined by that.

    Raises Refused: 404; 409 copilot_busy while the model is at work, copilot_conversation_full.
    """
    held = _idle(asker, conversation_id, now=now)
    if held.questions >= MAX_QUESTIONS:
        message = f"A conversation takes {MAX_QUESTIONS} questions. Begin another one."
        raise Refused(409, "copilot_conversation_full", message)
    words = _left_undone(held)
    again = conversations.change(held, {"questions": held.questions + 1, "rounds": 0, "role": asker.role})
    conversations.stage_tools(again, asker.tools)
    return talk.go_on(again, [*words, Words(EntryKind.Question, text)], now=now)


def retry(asker: Asker, conversation_id: UUID, *, now: datetime) -> CopilotConversation:
    """Ask the model once more what it gave no answer to. Raises Refused: 404; 409 copilot_busy, nothing_to_retry."""
    held = _idle(asker, conversation_id, now=now)
    if held.state != ConversationState.Failed:
        raise Refused(409, "nothing_to_retry", "The last question has its answer.")
    again = conversations.change(held, {"rounds": 0, "role": asker.role})
    conversations.stage_tools(again, asker.tools)
    return talk.go_on(again, [], now=now)


def claim(asker: Asker, conversation_id: UUID, act_id: UUID, *, now: datetime) -> CopilotAct | None:
    """Take an act that is about to be done, so that nobody else does it; None where it was decided, or is being done.

    One whose process died while it was done is given again after a minute. Raises Refused: 404; 409
    copilot_act_expired.
    """
    _, act = _locked(asker, conversation_id, act_id)
    is_left = act.state == ActState.Running and act.begun_at is not None and now - act.begun_at >= ACT_TIMEOUT
    if act.state != ActState.Proposed and not is_left:
        return None
    if act.state == ActState.Proposed and now >= act.expires_at:
        raise Refused(409, "copilot_act_expired", "This was proposed too long ago. Ask for it again.")
    return acts.change(act, {"state": ActState.Running, "begun_at": now})


def give_back(asker: Asker, act: CopilotAct) -> None:
    """Let an act that could not be done now be confirmed again."""
    _, held = _locked(asker, act.conversation_id, act.id)
    if held.state == ActState.Running and held.begun_at == act.begun_at:
        acts.change(held, {"state": ActState.Proposed, "begun_at": None})


def settle(asker: Asker, act: CopilotAct, result: Mapping[str, Any], *, is_done: bool, now: datetime) -> None:
    """Write down what the operation said to an act that was confirmed; then the conversation goes on."""
    conversation, held = _locked(asker, act.conversation_id, act.id)
    if held.state != ActState.Running:
        return
    acts.change(held, {"state": ActState.Done if is_done else ActState.Failed, "result": result})
    _decided(conversation, held, result, now=now)


def decline(asker: Asker, conversation_id: UUID, act_id: UUID, *, now: datetime) -> None:
    """Say no to an act; one that was decided stays as it is. Raises Refused (404)."""
    conversation, act = _locked(asker, conversation_id, act_id)
    if act.state != ActState.Proposed:
        return
    is_late = now >= act.expires_at
    result = _EXPIRED if is_late else _DECLINED
    acts.change(act, {"state": ActState.Expired if is_late else ActState.Declined, "result": result})
    _decided(conversation, act, result, now=now)


def _decided(conversation: CopilotConversation, act: CopilotAct, result: Mapping[str, Any], *, now: datetime) -> None:
    """Tell the model, once every act of its reply is decided."""
    words = [Words(EntryKind.Result, orjson.dumps(result).decode(), call_id=act.call_id)]
    others = acts.of(conversation.organization_id, conversation.id)
    if conversation.state == ConversationState.Asking and not any(one.state in _OPEN for one in others):
        talk.go_on(conversation, words, now=now)
    else:
        kept = {"failure": conversation.failure, "begun_at": conversation.begun_at}
        talk.add(conversation, words, kept, now=now)


def _left_undone(conversation: CopilotConversation) -> Sequence[Words]:
    """Decline what was proposed and not decided. What is being done this moment is neither declined nor waited for."""
    found = []
    for act in acts.of(conversation.organization_id, conversation.id):
        if act.state == ActState.Proposed:
            held = acts.lock(organization_id=act.organization_id, conversation_id=act.conversation_id, act_id=act.id)
            assert held is not None  # its conversation is locked, and nobody deletes an act alone
            acts.change(held, {"state": ActState.Declined, "result": _DECLINED})
            found.append(Words(EntryKind.Result, orjson.dumps(_DECLINED).decode(), call_id=act.call_id))
    return found


def _idle(asker: Asker, conversation_id: UUID, *, now: datetime) -> CopilotConversation:
    """Return a person's conversation, locked, that waits for them. Raises Refused: 404; 409 copilot_busy."""
    held = conversations.lock(
        organization_id=asker.organization_id, member_id=asker.member_id, conversation_id=conversation_id
    )
    if held is None:
        raise not_found("conversation", conversation_id)
    if held.state in (ConversationState.Thinking, ConversationState.Working):
        if now - held.changed_at < MODEL_TIMEOUT:
            raise Refused(409, "copilot_busy", "The co-pilot is still at the last question.")
        return talk.fail(held, CopilotFailure.Silent, now=now)
    return held


def _locked(asker: Asker, conversation_id: UUID, act_id: UUID) -> tuple[CopilotConversation, CopilotAct]:
    conversation = conversations.lock(
        organization_id=asker.organization_id, member_id=asker.member_id, conversation_id=conversation_id
    )
    if conversation is None:
        raise not_found("conversation", conversation_id)
    act = acts.lock(organization_id=asker.organization_id, conversation_id=conversation_id, act_id=act_id)
    if act is None:
        raise not_found("act", act_id)
    return conversation, act
