"""The JSON of a conversation for its person: messages and proposed actions."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from adapters import clock
from api.access import guards
from domain.copilot.states import ActState, EntryKind
from domain.refusals import not_found
from models import db
from models.copilot import acts, conversations, entries
from models.copilot.acts import CopilotAct
from models.copilot.conversations import CopilotConversation
from models.copilot.entries import CopilotEntry
from schemas.copilot import CopilotActRecord, CopilotConversationRecord, CopilotEntryRecord

_CONVERSATION = CopilotConversationRecord(exclude=("entries", "acts"))
_ENTRY, _ACT = CopilotEntryRecord(exclude=("tools",)), CopilotActRecord()


def find_conversation(conversation_id: UUID) -> Mapping[str, Any]:
    """Return the caller's conversation. Budget: 3 statements. Raises Refused (404)."""
    caller = guards.caller()
    with db.unit_of_work(caller.organization_id):
        conversation = conversations.find(
            organization_id=caller.organization_id, member_id=caller.member_id, conversation_id=conversation_id
        )
        if conversation is None:
            raise not_found("conversation", conversation_id)
        return serialize_conversation(conversation)


def serialize_conversation(conversation: CopilotConversation) -> dict[str, Any]:
    """Return the JSON of a conversation with its messages and proposals, in the caller's unit of work."""
    now = clock.now()
    conversation_entries = entries.list_of_conversation(conversation.organization_id, conversation.id)
    proposed = acts.list_of_conversation(conversation.organization_id, conversation.id)
    return {
        **_CONVERSATION.dump(conversation),
        "entries": [_serialize_entry(entry) for entry in conversation_entries if entry.kind != EntryKind.Result],
        "acts": [_ACT.dump(_with_expiry(act, now)) for act in proposed],
    }


def _serialize_entry(entry: CopilotEntry) -> dict[str, Any]:
    return {**_ENTRY.dump(entry), "tools": [call["tool"] for call in entry.calls]}


def _with_expiry(act: CopilotAct, now: datetime) -> CopilotAct:
    is_late = act.state == ActState.Proposed and now >= act.expires_at
    return replace(act, state=ActState.Expired) if is_late else act
