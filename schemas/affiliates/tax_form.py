"""Tax forms on the wire.

Source: core spec, "Affiliate" (tax form).
"""

from marshmallow import fields

from schemas.base import Instant, Wire, bearer_secret, one_of

#: What a form may be.
TYPES = ("W9", "W8BEN", "W8BENE")


class TaxFormRecord(Wire):
    """A form with a link that opens it; only `heldByStripe` when the payout provider holds the form."""

    all_may_lack = True

    id = fields.UUID()
    affiliate_id = fields.UUID()
    type = one_of(TYPES)
    submitted_at = Instant()
    signed_url = bearer_secret(found_at="An Owner or Admin opens the form on the affiliate's page of the dashboard.")
    expires_in_seconds = fields.Integer()
    held_by_stripe = fields.Boolean()


class FileQuery(Wire):
    """What a signed link carries; nothing it says is malformed, only wrong."""

    expires = fields.String(load_default="")
    signature = fields.String(load_default="")
