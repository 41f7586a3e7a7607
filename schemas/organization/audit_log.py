"""The audit log in the API. Source: core spec, "Audit log" and "Other resources" (audit log item)."""

from marshmallow import fields, validate

from schemas.base import Instant, Wire, one_of, text
from schemas.paging import QueryInteger

_MAX_TEXT_CHARS = 200
# Beyond the end of any log, and a valid number in JSON.
_LAST_PAGE = 1_000_000_000


class AuditQuery(Wire):
    """The filters of entries. `until` is exclusive. `actorUserId` and `ip` are for people at the dashboard."""

    page = QueryInteger(load_default=1, validate=validate.Range(min=1, max=_LAST_PAGE))
    page_size = QueryInteger(load_default=50, validate=validate.Range(min=1))
    action = text(longest=_MAX_TEXT_CHARS, load_default=None)
    entity_type = text(longest=_MAX_TEXT_CHARS, load_default=None)
    since = Instant(load_default=None)
    until = Instant(load_default=None)
    # A text and not an id: for an API key it is ignored, valid or not.
    actor_user_id = fields.String(load_default=None)
    ip = text(longest=_MAX_TEXT_CHARS, load_default=None)
    format = one_of(("json", "csv"), load_default=None)


class AuditEntryRecord(Wire):
    """One entry. API keys do not see the member and the address."""

    id = fields.UUID()
    action = fields.String()
    entity_type = fields.String()
    entity_id = fields.String()
    actor_type = fields.String()
    actor_user_id = fields.UUID(allow_none=True)
    actor_label = fields.String(allow_none=True)
    ip = fields.String(allow_none=True)
    user_agent = fields.String(allow_none=True)
    request_id = fields.String(allow_none=True)
    via = fields.String(allow_none=True)
    client = fields.String(allow_none=True)
    before = fields.Dict(keys=fields.String(), allow_none=True)
    after = fields.Dict(keys=fields.String(), allow_none=True)
    created_at = Instant()


class AuditPage(Wire):
    """A numbered page, newest first."""

    page = fields.Integer()
    page_size = fields.Integer()
    total = fields.Integer()
    items = fields.List(fields.Nested(AuditEntryRecord))
