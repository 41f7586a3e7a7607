"""The team of an organization in the API: members, invitations, and a person's own organizations."""

from marshmallow import fields

from domain.organization.access import Role
from schemas.base import Email, Instant, Wire, one_of
from schemas.paging import PageQuery, QueryFlag

_STATUSES = ("Active", "Invited", "Expired")


class TeamQuery(PageQuery):
    """The requested page of the team."""


class TeamInviteBody(Wire):
    """The person to invite, and their role."""

    email = Email(required=True)
    role = one_of(tuple(Role), required=True)


class TeamRoleBody(Wire):
    """The new role of a member."""

    role = one_of(tuple(Role), required=True)


class TeamRemovalQuery(Wire):
    """What else ends with the membership."""

    revoke_api_keys = QueryFlag(load_default=False)


class TeamEntryRecord(Wire):
    """A member of the team, or a pending or expired invitation."""

    id = fields.UUID()
    email = fields.String()
    role = one_of(tuple(Role))
    status = one_of(_STATUSES)
    created_at = Instant()
    last_seen_at = Instant(allow_none=True)
    second_factor = fields.Boolean(attribute="has_second_factor")
    active_api_keys = fields.Integer()
    invited_by_email = fields.String(allow_none=True)
    expires_at = Instant(allow_none=True)


class OwnOrganizationRecord(Wire):
    """An organization of the signed-in person, with their role there."""

    id = fields.UUID()
    name = fields.String()
    role = one_of(tuple(Role))
