"""Clicks on the wire: what a page tells of a visit, and what it is told.

Source: tracking spec, "Public click endpoint".
"""

from marshmallow import fields

from schemas.base import Wire, text

_LONGEST_SLUG = 200
_LONGEST_URL = 8192
_LONGEST_TAG = 1024
_LONGEST_VISITOR = 128


class ClickBody(Wire):
    """A visit that a link brought, as a body and as a query. Only the slug says where it came from."""

    slug = text(required=True, shortest=1, longest=_LONGEST_SLUG)
    program_id = fields.UUID(load_default=None, allow_none=True)
    url = text(load_default=None, allow_none=True, longest=_LONGEST_URL)
    referrer = text(load_default=None, allow_none=True, longest=_LONGEST_URL)
    sub_id = text(load_default=None, allow_none=True, longest=_LONGEST_TAG)
    visitor_id = text(load_default=None, allow_none=True, longest=_LONGEST_VISITOR)


class ClickAnswer(Wire):
    """`ok` alone when there was nothing to count; with a click's id the slug is known and earning."""

    ok = fields.Boolean(required=True)
    click_id = fields.String()
    program_id = fields.UUID()
    slug = fields.String()
    cookie_window_days = fields.Integer()
    attribution_model = fields.String()


class GifQuery(Wire):
    """Which campaign's page shows the counter; whatever is sent, it is shown."""

    program_id = fields.String(load_default=None, metadata={"format": "uuid"})
