"""What is said in a conversation is written down under its lock, numbered, with the state that it leads to."""

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
class Words:
    """Something to write down: `calls` of a reply, `call_id` of a result."""

    kind: EntryKind
    text: str
    calls: Sequence[Mapping[str, Any]] = ()
    call_id: str | None = None


def stage_words(conversation: CopilotConversation, first: int, words: Sequence[Words], *, now: datetime) -> None:
    """Stage what was said, as the entries from number `first` on."""
    for number, one in enumerate(words, first):
        entry = CopilotEntry(number, one.kind, one.text, one.calls, one.call_id, now)
        entries.stage(conversation, entry)


def add(
    conversation: CopilotConversation, words: Sequence[Words], changes: Mapping[str, Any], *, now: datetime
) -> CopilotConversation:
    """Write down what was said in a locked conversation and where it stands now; returns it as it is then."""
    stage_words(conversation, conversation.entries + 1, words, now=now)
    told = {"failure": None, "begun_at": None, "entries": conversation.entries + len(words), "changed_at": now}
    return conversations.change(conversation, {**told, **changes})


def stage_asking(conversation: CopilotConversation, turn: int) -> None:
    """Stage the job that asks the model for this turn, and for no later one."""
    organization_id = conversation.organization_id
    work.enqueue(jobs.COPILOT_ASK, organization_id=organization_id, conversation_id=conversation.id, turn=turn)


def go_on(conversation: CopilotConversation, words: Sequence[Words], *, now: datetime) -> CopilotConversation:
    """Write down what was said and ask the model, unless it was asked often enough for this question."""
    if conversation.rounds >= MAX_ROUNDS:
        return fail(conversation, CopilotFailure.Rounds, words, now=now)
    turn = conversation.turn + 1
    stage_asking(conversation, turn)
    changes = {"state": ConversationState.Thinking, "turn": turn, "rounds": conversation.rounds + 1}
    return add(conversation, words, changes, now=now)


def fail(
    conversation: CopilotConversation, failure: CopilotFailure, words: Sequence[Words] = (), *, now: datetime
) -> CopilotConversation:
    """Write down why there is no answer; what was asked stays."""
    return add(conversation, words, {"state": ConversationState.Failed, "failure": failure}, now=now)
