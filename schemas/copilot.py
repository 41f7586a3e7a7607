"""The co-pilot in the API: conversations, their entries, and proposed acts."""

from marshmallow import fields

from domain.copilot.states import MAX_QUESTION_CHARS, ActState, ConversationState, CopilotFailure, EntryKind
from schemas.base import Instant, Wire, not_blank, one_of, text


class CopilotQuestion(Wire):
    """A person's question."""

    text = text(longest=MAX_QUESTION_CHARS, required=True, validate=[not_blank])


class CopilotSummary(Wire):
    """A conversation in a list."""

    id = fields.UUID()
    title = fields.String()
    state = one_of(ConversationState)
    created_at = Instant()
    changed_at = Instant()


class CopilotEntryRecord(Wire):
    """An entry of a conversation. Results are left out; the reply before them names the tools."""

    kind = one_of((EntryKind.Question, EntryKind.Reply))
    text = fields.String()
    tools = fields.List(fields.String())
    created_at = Instant()


class CopilotActRecord(Wire):
    """A proposed act: a tool with its arguments, and a preview of its effect."""

    id = fields.UUID()
    tool = fields.String()
    arguments = fields.Dict(keys=fields.String())
    preview = fields.Dict(keys=fields.String())
    state = one_of(ActState)
    result = fields.Dict(keys=fields.String(), allow_none=True)
    created_at = Instant()
    expires_at = Instant()


class CopilotConversationRecord(CopilotSummary):
    """A conversation with all its entries and proposed acts."""

    failure = one_of(CopilotFailure, allow_none=True)
    entries = fields.List(fields.Nested(CopilotEntryRecord()))
    acts = fields.List(fields.Nested(CopilotActRecord()))
