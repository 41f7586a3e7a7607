"""Attribution logs in the API.

Source: tracking spec, section 8 "Lead attribution order".
"""

from marshmallow import fields

from schemas.base import Instant, Wire


class AttributionStepRecord(Wire):
    """One step of the order; `code` is for machines and fixed, `detail` is for people and may be reworded."""

    step = fields.String()
    outcome = fields.String()
    code = fields.String()
    detail = fields.String()
    affiliate_id = fields.UUID(allow_none=True)


class AttributionRecord(Wire):
    """The affiliate whom a conversion credits, and the result of every step."""

    conversion_id = fields.UUID()
    affiliate_id = fields.UUID()
    attribution_method = fields.String(allow_none=True)
    decided_at = Instant()
    steps = fields.List(fields.Nested(AttributionStepRecord))
