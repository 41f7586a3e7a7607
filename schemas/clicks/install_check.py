"""The installation of a program's tag in the API."""

from marshmallow import fields

from domain.clicks.installation import TagFinding
from schemas.base import Instant, Wire, one_of, text

_MAX_URL_CHARS = 2048


class InstallCheckBody(Wire):
    """The page to check."""

    url = text(longest=_MAX_URL_CHARS, shortest=1, required=True)


class InstallCheckRecord(Wire):
    """The result of the last check of a page; the directives are those that would allow the script."""

    page_url = fields.String()
    checked_at = Instant()
    finding = one_of(TagFinding)
    page_bytes = fields.Integer()
    took_ms = fields.Integer()
    policy_allows = fields.Boolean()
    policy_lines = fields.List(fields.String())


class InstallStatus(Wire):
    """The progress of a program's installation: four steps, with details of each."""

    tag_is_there = fields.Boolean(attribute="lights.tag_is_there")
    tag_is_newest = fields.Boolean(attribute="lights.tag_is_newest")
    was_visited = fields.Boolean(attribute="lights.was_visited")
    has_converted = fields.Boolean(attribute="lights.has_converted")
    check = fields.Nested(InstallCheckRecord(), attribute="state.check", allow_none=True)
    script_seen_at = Instant(attribute="state.script_seen_at", allow_none=True)
    script_origin = fields.String(attribute="state.script_origin", allow_none=True)
    last_click_at = Instant(attribute="state.last_click_at", allow_none=True)
    last_conversion_at = Instant(attribute="state.last_conversion_at", allow_none=True)
    last_conversion_source = fields.String(attribute="state.last_conversion_source", allow_none=True)
    last_conversion_source_name = fields.String(attribute="source_name", allow_none=True)
