"""Clicks in the API: the visits that pages report, and the responses.

Source: tracking spec, "Public click endpoint".
"""

from marshmallow import fields

from domain import statuses
from schemas.base import MAY_LACK, Wire, one_of, text

_MAX_SLUG_CHARS = 200
_MAX_URL_CHARS = 8192
_MAX_TAG_CHARS = 1024
_MAX_VISITOR_CHARS = 128
MAX_PIXEL_KEY_CHARS = 64


class ClickBody(Wire):
    """A visit through a link, as a body and as a query. Only the slug says where it came from.

    With the key of a store's web pixel the slug is one of the store's organization.
    """

    slug = text(required=True, shortest=1, longest=_MAX_SLUG_CHARS)
    program_id = fields.UUID(load_default=None, allow_none=True)
    url = text(load_default=None, allow_none=True, longest=_MAX_URL_CHARS)
    referrer = text(load_default=None, allow_none=True, longest=_MAX_URL_CHARS)
    sub_id = text(load_default=None, allow_none=True, longest=_MAX_TAG_CHARS)
    visitor_id = text(load_default=None, allow_none=True, longest=_MAX_VISITOR_CHARS)
    pixel_key = text(load_default=None, allow_none=True, longest=MAX_PIXEL_KEY_CHARS)


class ClickDebug(Wire):
    """`debug=1` requests the verdict, only for callers with a key or a session of the program's organization."""

    debug = fields.String(load_default=None)


class ClickQuery(ClickBody, ClickDebug):
    """A visit as a query."""


class ClickVerdict(Wire):
    """The verdict on a click: whether it counts, its outcome, its score, and the reasons against it.

    A reason is a fraud rule's name, or why there was no click: unknown_slug, program_not_open, affiliate_not_approved,
    no_visit (a robot, or a prefetched page), duplicate, not_taken (it could not be accepted).
    """

    recorded = fields.Boolean(attribute="is_recorded")
    outcome = fields.String()
    score = fields.Integer()
    reasons = fields.List(fields.String())


class ClickAnswer(Wire):
    """Only `ok` when there was nothing to count; with a click's id when the slug is known and earning."""

    ok = fields.Boolean(required=True)
    click_id = fields.String(metadata=MAY_LACK)
    program_id = fields.UUID(metadata=MAY_LACK)
    slug = fields.String(metadata=MAY_LACK)
    cookie_window_days = fields.Integer(metadata=MAY_LACK)
    attribution_model = one_of(statuses.AttributionModel, metadata=MAY_LACK)
    debug = fields.Nested(ClickVerdict, metadata=MAY_LACK)


class GifQuery(Wire):
    """The campaign of the page with the counter image, which is served for any values. `script=1`: from the script."""

    program_id = fields.String(load_default=None, metadata={"format": "uuid"})
    script = fields.String(load_default=None)
