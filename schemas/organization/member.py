"""An organization's members in the API, with their sessions at the pages."""

from marshmallow import fields

from domain.organization.access import Role
from schemas.base import Instant, Wire, one_of


class MemberSessionRecord(Wire):
    """A session of a member. The id is no credential."""

    id = fields.String()
    signed_in_at = Instant()
    seen_at = Instant()
    expires_at = Instant()
    user_agent = fields.String(allow_none=True)


class MemberRecord(Wire):
    """A person who may act for the organization; the role is that of their last sign-in."""

    id = fields.UUID()
    email = fields.String()
    role = one_of(tuple(Role))
    has_signed_in = fields.Boolean()
    created_at = Instant()
    seen_at = Instant()
    sessions = fields.List(fields.Nested(MemberSessionRecord))


class EndedSessions(Wire):
    """The number of ended sessions."""

    ended = fields.Integer()
