"""The results of a search in the API."""

from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain import statuses
from domain.payouts.states import PayoutStatus
from schemas.base import Instant, Wire, one_of, text


class SearchQuery(Wire):
    """The text: the beginning of a name, a last name, an email or a code, or a whole id or order number."""

    q = text(longest=200, required=True)

    @post_load
    def _trim(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        words = query["q"].strip()
        if not words:
            raise ValidationError("Enter a name, an email, an id, an order number or a code.", "q")
        return {"q": words}


class _Found(Wire):
    """`isExact` marks the row whose id was searched."""

    id = fields.UUID()
    is_exact = fields.Boolean()


class FoundAffiliate(_Found):
    """An affiliate."""

    full_name = fields.String()
    email = fields.String()
    program_id = fields.UUID()
    status = one_of(statuses.AffiliateStatus)


class _OfAffiliate(_Found):
    """A row of an affiliate, with their name and email."""

    affiliate_id = fields.UUID()
    affiliate_name = fields.String(attribute="full_name")
    affiliate_email = fields.String(attribute="email")


class FoundConversion(_OfAffiliate):
    """A conversion."""

    external_event_id = fields.String()
    amount_cents = fields.Integer()
    currency = fields.String()
    status = one_of(statuses.ConversionStatus)
    type = one_of(statuses.ConversionType)
    parent_affiliate_conversion_id = fields.UUID(attribute="parent_id", allow_none=True)
    occurred_at = Instant()


class FoundPayout(_OfAffiliate):
    """A payout."""

    amount_cents = fields.Integer()
    currency = fields.String()
    status = one_of(PayoutStatus)
    created_at = Instant()


class FoundCode(_OfAffiliate):
    """A coupon code."""

    code = fields.String()
    status = one_of(("Minting", "Active", "Revoked"))


class SearchResults(Wire):
    """The first five rows of each kind, and whether there are more."""

    affiliates = fields.List(fields.Nested(FoundAffiliate))
    has_more_affiliates = fields.Boolean()
    conversions = fields.List(fields.Nested(FoundConversion))
    has_more_conversions = fields.Boolean()
    payouts = fields.List(fields.Nested(FoundPayout))
    has_more_payouts = fields.Boolean()
    codes = fields.List(fields.Nested(FoundCode))
    has_more_codes = fields.Boolean()
