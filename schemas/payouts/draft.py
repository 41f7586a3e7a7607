"""Prepared automatic payouts in the API. Source: core spec, "Payouts" (the preview's totals)."""

from marshmallow import fields

from schemas.base import Instant, Wire
from schemas.payouts.payout import day


class PayoutDraftRecord(Wire):
    """A prepared payout with the totals due at that time. Totals are native minor units, the estimate US cents.

    A refusal says why it was not confirmed automatically; both fields are null if it was not meant to be.
    """

    id = fields.UUID()
    due_on = day()
    recipient_count = fields.Integer(attribute="recipients")
    total_eligible_cents = fields.Integer(attribute="confirm_total_cents")
    native_totals_for_run = fields.Dict(keys=fields.String(), values=fields.Integer(), attribute="native_totals")
    usd_estimate_at_run_rate_cents = fields.Integer(attribute="usd_estimate_cents")
    refusal_code = fields.String(allow_none=True)
    refusal_message = fields.String(allow_none=True)
    created_at = Instant()
