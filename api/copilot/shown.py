"""A conversation as it is shown to the person whose it is: what was said, and what is proposed."""

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


def found(conversation_id: UUID) -> Mapping[str, Any]:
    """Return the caller's conversation. Budget: 3 statements. Raises Refused (404)."""
    caller = guards.caller()
    with db.unit_of_work(caller.organization_id):
        conversation = conversations.find(
            organization_id=caller.organization_id, member_id=caller.member_id, conversation_id=conversation_id
        )
        if conversation is None:
            raise not_found("conversation", conversation_id)
        return whole(conversation)


def whole(conversation: CopilotConversation) -> dict[str, Any]:
    """Return a conversation with what was said and proposed in it, in the caller's unit of work."""
    now = clock.now()
    said = entries.of(conversation.organization_id, conversation.id)
    proposed = acts.of(conversation.organization_id, conversation.id)
    return {
        **_CONVERSATION.dump(conversation),
        "entries": [_entry(one) for one in said if one.kind != EntryKind.Result],
        "acts": [_ACT.dump(_as_it_stands(act, now)) for act in proposed],
    }


def _entry(one: CopilotEntry) -> dict[str, Any]:
    return {**_ENTRY.dump(one), "tools": [call["tool"] for call in one.calls]}


def _as_it_stands(act: CopilotAct, now: datetime) -> CopilotAct:
    is_late = act.state == ActState.Proposed and now >= act.expires_at
    return replace(act, state=ActState.Expired) if is_late else act
