"""Clicks on the wire: what a page tells of a visit, and what it is told.

Source: tracking spec, "Public click endpoint".
"""

from marshmallow import fields

from domain import statuses
from schemas.base import MAY_LACK, Wire, one_of, text

_LONGEST_SLUG = 200
_LONGEST_URL = 8192
_LONGEST_TAG = 1024
_LONGEST_VISITOR = 128
LONGEST_PIXEL_KEY = 64


class ClickBody(Wire):
    """A visit that a link brought, as a body and as a query. Only the slug says where it came from.

    With the key of a store's web pixel the slug is one of the store's organization.
    """

    slug = text(required=True, shortest=1, longest=_LONGEST_SLUG)
    program_id = fields.UUID(load_default=None, allow_none=True)
    url = text(load_default=None, allow_none=True, longest=_LONGEST_URL)
    referrer = text(load_default=None, allow_none=True, longest=_LONGEST_URL)
    sub_id = text(load_default=None, allow_none=True, longest=_LONGEST_TAG)
    visitor_id = text(load_default=None, allow_none=True, longest=_LONGEST_VISITOR)
    pixel_key = text(load_default=None, allow_none=True, longest=LONGEST_PIXEL_KEY)


class ClickDebug(Wire):
    """`debug=1` asks why, for callers with a key or a session of the program's organization; nobody else is told."""

    debug = fields.String(load_default=None)


class ClickQuery(ClickBody, ClickDebug):
    """A visit told in the query."""


class ClickVerdict(Wire):
    """What became of a click: whether it counts, its outcome, its score, and the reasons against it.

    A reason is a fraud rule's name, or why there was no click: unknown_slug, program_not_open, affiliate_not_approved,
    no_visit (a robot, or a page that is fetched ahead), duplicate, not_taken (nothing could take it).
    """

    recorded = fields.Boolean(attribute="is_recorded")
    outcome = fields.String()
    score = fields.Integer()
    reasons = fields.List(fields.String())


class ClickAnswer(Wire):
    """`ok` alone when there was nothing to count; with a click's id the slug is known and earning."""

    ok = fields.Boolean(required=True)
    click_id = fields.String(metadata=MAY_LACK)
    program_id = fields.UUID(metadata=MAY_LACK)
    slug = fields.String(metadata=MAY_LACK)
    cookie_window_days = fields.Integer(metadata=MAY_LACK)
    attribution_model = one_of(statuses.AttributionModel, metadata=MAY_LACK)
    debug = fields.Nested(ClickVerdict, metadata=MAY_LACK)


class GifQuery(Wire):
    """Which campaign's page shows the counter. It is shown for any values. `script=1`: the script asks for it."""

    program_id = fields.String(load_default=None, metadata={"format": "uuid"})
    script = fields.String(load_default=None)
