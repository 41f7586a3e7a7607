"""The co-pilot on the wire: conversations, what was said in them, and what is proposed."""

from marshmallow import fields

from domain.copilot.states import MAX_QUESTION_CHARS, ActState, ConversationState, CopilotFailure, EntryKind
from schemas.base import Instant, Wire, not_blank, one_of, text


class CopilotQuestion(Wire):
    """What a person asks, or says next."""

    text = text(longest=MAX_QUESTION_CHARS, required=True, validate=[not_blank])


class CopilotSummary(Wire):
    """A conversation in a list."""

    id = fields.UUID()
    title = fields.String()
    state = one_of(ConversationState)
    created_at = Instant()
    changed_at = Instant()


class CopilotEntryRecord(Wire):
    """Something that was said. Of a result only which tools were asked is told, in the reply before it."""

    kind = one_of((EntryKind.Question, EntryKind.Reply))
    text = fields.String()
    tools = fields.List(fields.String())
    created_at = Instant()


class CopilotActRecord(Wire):
    """What is proposed: a tool with its arguments, and what it would do."""

    id = fields.UUID()
    tool = fields.String()
    arguments = fields.Dict(keys=fields.String())
    preview = fields.Dict(keys=fields.String())
    state = one_of(ActState)
    result = fields.Dict(keys=fields.String(), allow_none=True)
    created_at = Instant()
    expires_at = Instant()


class CopilotConversationRecord(CopilotSummary):
    """A conversation with all that was said and proposed in it."""

    failure = one_of(CopilotFailure, allow_none=True)
    entries = fields.List(fields.Nested(CopilotEntryRecord()))
    acts = fields.List(fields.Nested(CopilotActRecord()))
