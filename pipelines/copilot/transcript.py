"""Appends numbered entries to a locked conversation, and sets its next state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain import jobs
from domain.copilot.states import MAX_ROUNDS, ConversationState, CopilotFailure, EntryKind
from models.copilot import conversations, entries
from models.copilot.conversations import CopilotConversation
from models.copilot.entries import CopilotEntry
from pipelines import work


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """An entry to append: `calls` of a reply, `call_id` of a result."""

    kind: EntryKind
    text: str
    calls: Sequence[Mapping[str, Any]] = ()
    call_id: str | None = None


def stage_entries(
    conversation: CopilotConversation, first_number: int, new_entries: Sequence[TranscriptEntry], *, now: datetime
) -> None:
    """Stage the entries, numbered from `first_number` on."""
    for number, new_entry in enumerate(new_entries, first_number):
        entry = CopilotEntry(number, new_entry.kind, new_entry.text, new_entry.calls, new_entry.call_id, now)
        entries.stage(conversation, entry)


def add(
    conversation: CopilotConversation,
    new_entries: Sequence[TranscriptEntry],
    changes: Mapping[str, Any],
    *,
    now: datetime,
) -> CopilotConversation:
    """Append entries to a locked conversation and change its columns; return it after it."""
    stage_entries(conversation, conversation.entries + 1, new_entries, now=now)
    defaults = {
        "failure": None,
        "begun_at": None,
        "entries": conversation.entries + len(new_entries),
        "changed_at": now,
    }
    return conversations.change(conversation, {**defaults, **changes})


def stage_model_call(conversation: CopilotConversation, turn: int) -> None:
    """Stage the job that calls the model for this turn, and for no later one."""
    organization_id = conversation.organization_id
    work.enqueue(jobs.COPILOT_ASK, organization_id=organization_id, conversation_id=conversation.id, turn=turn)


def ask_model(
    conversation: CopilotConversation, new_entries: Sequence[TranscriptEntry], *, now: datetime
) -> CopilotConversation:
    """Append entries and call the model, unless this question has used all its calls."""
    if conversation.rounds >= MAX_ROUNDS:
        return fail(conversation, CopilotFailure.Rounds, new_entries, now=now)
    turn = conversation.turn + 1
    stage_model_call(conversation, turn)
    changes = {"state": ConversationState.Thinking, "turn": turn, "rounds": conversation.rounds + 1}
    return add(conversation, new_entries, changes, now=now)


def fail(
    conversation: CopilotConversation,
    failure: CopilotFailure,
    new_entries: Sequence[TranscriptEntry] = (),
    *,
    now: datetime,
) -> CopilotConversation:
    """Record why there is no answer; the question stays."""
    return add(conversation, new_entries, {"state": ConversationState.Failed, "failure": failure}, now=now)
