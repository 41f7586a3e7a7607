"""The installation of a program's tag on the wire."""

from marshmallow import fields

from domain.clicks.installation import TagFinding
from schemas.base import Instant, Wire, one_of, text

_LONGEST_URL = 2048


class InstallCheckBody(Wire):
    """Which page to look at."""

    url = text(longest=_LONGEST_URL, shortest=1, required=True)


class InstallCheckRecord(Wire):
    """What the page that was checked last carried; the directives are those that would let the script in."""

    wire_name = "InstallCheck"

    page_url = fields.String()
    checked_at = Instant()
    finding = one_of(TagFinding)
    page_bytes = fields.Integer()
    took_ms = fields.Integer()
    policy_allows = fields.Boolean()
    policy_lines = fields.List(fields.String())


class InstallStatus(Wire):
    """How far a program's installation is: four steps, and what is known of each."""

    tag_is_there = fields.Boolean(attribute="lights.tag_is_there")
    tag_is_newest = fields.Boolean(attribute="lights.tag_is_newest")
    was_visited = fields.Boolean(attribute="lights.was_visited")
    has_converted = fields.Boolean(attribute="lights.has_converted")
    check = fields.Nested(InstallCheckRecord(), attribute="state.check", allow_none=True)
    script_seen_at = Instant(attribute="state.script_seen_at", allow_none=True)
    script_origin = fields.String(attribute="state.script_origin", allow_none=True)
    last_click_at = Instant(attribute="state.last_click_at", allow_none=True)
    last_conversion_at = Instant(attribute="state.last_conversion_at", allow_none=True)
