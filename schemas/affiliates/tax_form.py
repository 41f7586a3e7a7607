"""Tax forms in the API.

Source: core spec, "Affiliate" (tax form).
"""

from marshmallow import fields

from schemas.base import Instant, Wire, bearer_secret, one_of

#: The types of forms.
TYPES = ("W9", "W8BEN", "W8BENE")


class TaxFormRecord(Wire):
    """A form with a link that opens it; only `heldByStripe` if the payout provider holds the form."""

    all_may_lack = True

    id = fields.UUID()
    affiliate_id = fields.UUID()
    type = one_of(TYPES)
    submitted_at = Instant()
    signed_url = bearer_secret(found_at="An Owner or Admin opens the form on the affiliate's page of the dashboard.")
    expires_in_seconds = fields.Integer()
    held_by_stripe = fields.Boolean()


class FileQuery(Wire):
    """The parameters of a signed link; any text is accepted and then verified."""

    expires = fields.String(load_default="")
    signature = fields.String(load_default="")
