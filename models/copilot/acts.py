"""Acts that the co-pilot proposed: a tool with arguments, which only the person of the conversation may confirm."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import Json
from models.table import Table


@dataclass(frozen=True, slots=True)
class CopilotAct:
    """A proposed act. `preview` was shown to the person, `result` is the operation's response."""

    id: UUID
    organization_id: UUID
    conversation_id: UUID
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    preview: Mapping[str, Any]
    state: str
    result: Mapping[str, Any] | None
    begun_at: datetime | None
    created_at: datetime
    expires_at: datetime


_TABLE = Table("copilot_act", CopilotAct)
_OF = f"""
select {_TABLE.columns} from copilot_act where organization_id = %s and conversation_id = %s order by created_at, id
"""
_LOCK = f"""
select {_TABLE.columns} from copilot_act
where organization_id = %s and conversation_id = %s and id = %s for no key update
"""


def insert(values: Mapping[str, Any]) -> None:
    """Insert a proposed act."""
    documents = {name: Json(values[name]) for name in ("arguments", "preview")}
    _TABLE.insert({**values, **documents})


def list_of_conversation(organization_id: UUID, conversation_id: UUID) -> list[CopilotAct]:
    """Return the acts proposed in a conversation, in order. Budget: 1 statement."""
    return _TABLE.all(_OF, (organization_id, conversation_id))


def lock(*, organization_id: UUID, conversation_id: UUID, act_id: UUID) -> CopilotAct | None:
    """Return an act, locked until the transaction ends. Lock its conversation first."""
    return _TABLE.first(_LOCK, (organization_id, conversation_id, act_id))


def change(act: CopilotAct, changes: Mapping[str, Any]) -> CopilotAct:
    """Change columns of a locked act and return it as it is now."""
    values = {name: Json(value) if name == "result" and value is not None else value for name, value in changes.items()}
    return _TABLE.update_locked(act, values)
