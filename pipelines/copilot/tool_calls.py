"""The model's tool calls: reads are run, changes are proposed to the user.

Between the two functions the user's request calls the operations; no transaction is open then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.copilot.states import (
    ACT_TIMEOUT,
    CONFIRMATION_PERIOD,
    MODEL_TIMEOUT,
    ActState,
    ConversationState,
    CopilotFailure,
    EntryKind,
)
from models import ids
from models.copilot import acts, conversations, entries
from models.copilot.conversations import CopilotConversation
from pipelines.copilot import questions, transcript
from pipelines.copilot.questions import CopilotUser
from pipelines.copilot.transcript import TranscriptEntry


@dataclass(frozen=True, slots=True)
class TakenCalls:
    """The calls ({id, tool, arguments}) of a model's last reply, taken by this request."""

    conversation: CopilotConversation
    calls: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a call: the `result` of a read (JSON), or the `preview` of a proposed change."""

    call: Mapping[str, Any]
    result: str | None = None
    preview: Mapping[str, Any] | None = None


def take(user: CopilotUser, conversation_id: UUID, *, now: datetime) -> TakenCalls | None:
    """Take the model's calls, so that no other request runs them; return None without calls.

    Calls taken by a request that died can be taken again after a minute. A model that is silent too long has failed.
    Raises Refused (404).
    """
    conversation = questions.lock_conversation(user, conversation_id)
    if conversation.state == ConversationState.Thinking and now - conversation.changed_at >= MODEL_TIMEOUT:
        transcript.fail(conversation, CopilotFailure.Silent, now=now)
    is_taken = conversation.begun_at is not None and now - conversation.begun_at < ACT_TIMEOUT
    if conversation.state != ConversationState.Working or is_taken:
        return None
    replies = [
        entry
        for entry in entries.list_of_conversation(conversation.organization_id, conversation.id)
        if entry.kind == EntryKind.Reply
    ]
    return TakenCalls(conversations.change(conversation, {"begun_at": now}), replies[-1].calls)


def record(user: CopilotUser, taken: TakenCalls, outcomes: Sequence[CallOutcome], *, now: datetime) -> None:
    """Record the outcomes; then the model is called again, or the user is asked to confirm what is proposed.

    Changes nothing if another request took the calls in the meantime.
    """
    before = taken.conversation
    conversation = conversations.lock(
        organization_id=user.organization_id, member_id=user.member_id, conversation_id=before.id
    )
    if conversation is None or (conversation.state, conversation.turn, conversation.begun_at) != (
        before.state,
        before.turn,
        before.begun_at,
    ):
        return
    new_entries = [
        TranscriptEntry(EntryKind.Result, outcome.result, call_id=outcome.call["id"])
        for outcome in outcomes
        if outcome.result is not None
    ]
    proposed = [outcome for outcome in outcomes if outcome.preview is not None]
    act_ids = sorted(ids.new_id() for _ in proposed)
    for act_id, outcome in zip(act_ids, proposed, strict=True):
        acts.insert(
            {
                "id": act_id,
                "organization_id": conversation.organization_id,
                "conversation_id": conversation.id,
                "call_id": outcome.call["id"],
                "tool": outcome.call["tool"],
                "arguments": outcome.call["arguments"],
                "preview": outcome.preview,
                "state": ActState.Proposed,
                "created_at": now,
                "expires_at": now + CONFIRMATION_PERIOD,
            }
        )
    if proposed:
        transcript.add(conversation, new_entries, {"state": ConversationState.Asking}, now=now)
    else:
        transcript.ask_model(conversation, new_entries, now=now)
