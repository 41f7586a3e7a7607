"""The entries of a conversation in order: questions, replies and tool results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.copilot.conversations import CopilotConversation
from models.db import Json, db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class CopilotEntry:
    """An entry. A reply has `calls` ({id, tool, arguments}), a result the `call_id` that it answers."""

    number: int
    kind: str
    text: str
    calls: Sequence[Mapping[str, Any]]
    call_id: str | None
    created_at: datetime


_ROWS = Rows(CopilotEntry)
_OF = f"""
select {columns(CopilotEntry)} from copilot_entry where organization_id = %s and conversation_id = %s order by number
"""
_INSERT = """
insert into copilot_entry (organization_id, conversation_id, number, kind, text, calls, call_id, created_at)
values (%s, %s, %s, %s, %s, %s, %s, %s)
"""


def list_of_conversation(organization_id: UUID, conversation_id: UUID) -> list[CopilotEntry]:
    """Return a conversation's entries in order. Budget: 1 statement."""
    return _ROWS.all(_OF, (organization_id, conversation_id))


def stage(conversation: CopilotConversation, entry: CopilotEntry) -> None:
    """Stage an entry of a locked conversation."""
    row = (conversation.organization_id, conversation.id, entry.number, entry.kind, entry.text)
    db.stage(_INSERT, (*row, Json(list(entry.calls)), entry.call_id, entry.created_at))
