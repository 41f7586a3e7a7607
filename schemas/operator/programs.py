"""Programs of every organization, as operators see them in the API."""

from marshmallow import fields

from domain.statuses import ProgramStatus
from schemas.base import Instant, Wire, one_of, text
from schemas.paging import PageQuery

_MAX_Q_CHARS = 200


class SupervisedProgramsQuery(PageQuery):
    """The filter of programs: `q` is a part of the name, or the slug or id."""

    q = text(longest=_MAX_Q_CHARS, load_default=None)
    organization_id = fields.UUID(load_default=None)
    status = one_of(ProgramStatus, load_default=None)


class SupervisedProgramRecord(Wire):
    """A program with its organization and whether it earns. `affiliates` counts those who may earn in it."""

    id = fields.UUID()
    organization_id = fields.UUID()
    organization = fields.String()
    name = fields.String()
    slug = fields.String()
    status = one_of(ProgramStatus)
    affiliates = fields.Integer()
    suspended_at = Instant(allow_none=True)
    archived_at = Instant(allow_none=True)
    created_at = Instant()
