"""Conversations with the co-pilot, each of one person."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models.db import db
from models.listing import Listing, Position
from models.table import Table


@dataclass(frozen=True, slots=True)
class CopilotConversation:
    """A conversation; `turn` counts the requests to the model, `rounds` those for the last question.

    `begun_at` is since when the model's tool calls are executed, `failure` why there is no answer.
    """

    id: UUID
    organization_id: UUID
    member_id: UUID
    title: str
    state: str
    failure: str | None
    turn: int
    rounds: int
    questions: int
    entries: int
    role: str
    begun_at: datetime | None
    created_at: datetime
    changed_at: datetime


class ListedConversation(NamedTuple):
    """A conversation in a list, ids as text."""

    id: str
    title: str
    state: str
    created_at: datetime
    changed_at: datetime


_TABLE = Table("copilot_conversation", CopilotConversation)
#: Change columns of a locked conversation and return it as it is now.
change = _TABLE.update_locked
_LISTING = Listing("copilot_conversation", ListedConversation, condition="true")
_FIND = f"""
select {_TABLE.columns} from copilot_conversation where organization_id = %s and member_id = %s and id = %s
"""
_LOCK = f"{_FIND} for no key update"
_LOCK_ANY = f"""
select {_TABLE.columns} from copilot_conversation where organization_id = %s and id = %s for no key update
"""


def insert(values: Mapping[str, Any]) -> CopilotConversation:
    """Insert a conversation and return it."""
    conversation = _TABLE.insert_returning(values)
    assert conversation is not None  # its id is new
    return conversation


def find(*, organization_id: UUID, member_id: UUID, conversation_id: UUID) -> CopilotConversation | None:
    """Return a person's conversation."""
    return _TABLE.first(_FIND, (organization_id, member_id, conversation_id))


def lock(*, organization_id: UUID, member_id: UUID, conversation_id: UUID) -> CopilotConversation | None:
    """Return a person's conversation, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, member_id, conversation_id))


def lock_any(*, organization_id: UUID, conversation_id: UUID) -> CopilotConversation | None:
    """Return a conversation of any member, locked until the transaction ends: for the job that calls the model."""
    return _TABLE.first(_LOCK_ANY, (organization_id, conversation_id))


def stage_tools(conversation: CopilotConversation, tools: str) -> None:
    """Stage the tools (a JSON list) that are offered to the model from now on."""
    db.stage(
        "update copilot_conversation set tools = %s where organization_id = %s and id = %s",
        (tools, conversation.organization_id, conversation.id),
    )


def find_tools(conversation: CopilotConversation) -> str:
    """Return the tools that are offered to the model, as a JSON list."""
    row = db.row(
        "select tools from copilot_conversation where organization_id = %s and id = %s",
        (conversation.organization_id, conversation.id),
    )
    return str(row[0]) if row else "[]"


def page(*, organization_id: UUID, member_id: UUID, after: Position | None, limit: int) -> list[ListedConversation]:
    """Return up to `limit` conversations of a person, newest first, after a position. Budget: 1 statement."""
    return _LISTING.page(organization_id=organization_id, where={"member_id": member_id}, limit=limit, after=after)


def delete(*, organization_id: UUID, member_id: UUID, conversation_id: UUID) -> bool:
    """Delete a person's conversation with its entries; False when it does not exist."""
    sql = "delete from copilot_conversation where organization_id = %s and member_id = %s and id = %s returning 1"
    return bool(db.run(sql, (organization_id, member_id, conversation_id)))
