"""Uncredited sales in the API.

Source: core spec, "Click and lead fraud review" (uncredited conversions).
"""

from typing import Any

from marshmallow import fields, post_load

from domain import statuses
from schemas.base import Instant, Wire, one_of
from schemas.conversions.attribution import AttributionStepRecord

_ALL = "all"


class UncreditedQuery(Wire):
    """The filters of the list. Loads `status` to None for all."""

    status = one_of(("open", "dismissed", _ALL), load_default="open")
    affiliate_id = fields.UUID(load_default=None)

    @post_load
    def _settle(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        return query | {"status": None if query["status"] == _ALL else query["status"]}


class UncreditedConversionRecord(Wire):
    """A sale whose affiliate could not earn at that time."""

    id = fields.UUID()
    affiliate_id = fields.UUID()
    affiliate_email = fields.String()
    affiliate_name = fields.String()
    program_id = fields.UUID()
    amount_cents = fields.Integer()
    currency = fields.String()
    reason = fields.String()
    affiliate_status_at_drop = one_of(statuses.AffiliateStatus)
    status = one_of(("open", "dismissed"))
    occurred_at = Instant()
    attribution = fields.List(fields.Nested(AttributionStepRecord))


class CurrencyTotal(Wire):
    """The open sum in one currency."""

    currency = fields.String()
    amount_cents = fields.Integer()
    count = fields.Integer()


class UncreditedSummary(Wire):
    """The sums that wait for a decision."""

    open_count = fields.Integer()
    by_currency = fields.List(fields.Nested(CurrencyTotal))
