"""An organization's people on the wire, with where they are signed in at the pages."""

from marshmallow import fields

from domain.organization.access import Role
from schemas.base import Instant, Wire, one_of


class MemberSessionRecord(Wire):
    """Where somebody is signed in. The id names a session and lets nobody in."""

    wire_name = "MemberSession"

    id = fields.String()
    signed_in_at = Instant()
    seen_at = Instant()
    expires_at = Instant()
    user_agent = fields.String(allow_none=True)


class MemberRecord(Wire):
    """Somebody who may act for the organization; their role is what they last signed in with."""

    wire_name = "Member"

    id = fields.UUID()
    email = fields.String()
    role = one_of(tuple(Role))
    has_signed_in = fields.Boolean()
    created_at = Instant()
    seen_at = Instant()
    sessions = fields.List(fields.Nested(MemberSessionRecord))


class EndedSessions(Wire):
    """How many sessions were ended."""

    ended = fields.Integer()
