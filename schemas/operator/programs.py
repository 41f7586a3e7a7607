"""Programs of every organization, as operators see them on the wire."""

from marshmallow import fields

from domain.statuses import ProgramStatus
from schemas.base import Instant, Wire, one_of, text
from schemas.paging import PageQuery

_LONGEST_Q = 200


class SupervisedProgramsQuery(PageQuery):
    """Which programs: those with `q` in their name, or whose slug or id it is."""

    q = text(longest=_LONGEST_Q, load_default=None)
    organization_id = fields.UUID(load_default=None)
    status = one_of(ProgramStatus, load_default=None)


class SupervisedProgramRecord(Wire):
    """A program with whose it is and whether it earns. `affiliates` are those who may earn in it."""

    wire_name = "SupervisedProgram"

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
