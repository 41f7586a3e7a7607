"""Past payout runs in the API. Source: core spec, "Payouts" (the run receipt)."""

from marshmallow import fields

from domain.payouts.plan import PAYOUT_CURRENCY
from domain.payouts.states import ReviewStatus
from schemas.base import Instant, Wire, one_of


class PayoutRunProgressRecord(Wire):
    """A run with the current states of its payouts. US cents; `nativeTotalsForRun` are the confirmed totals.

    A voided payout counts only in `voidedCount`, and not in `totalCents`.
    """

    run_id = fields.UUID(attribute="id")
    created_at = Instant()
    confirmed_by_email = fields.String(allow_none=True)
    currency = fields.Constant(PAYOUT_CURRENCY)
    native_totals_for_run = fields.Dict(keys=fields.String(), values=fields.Integer(), attribute="confirmed_totals")
    total_cents = fields.Integer()
    paid_cents = fields.Integer()
    payout_count = fields.Integer()
    pending_count = fields.Integer()
    processing_count = fields.Integer()
    paid_count = fields.Integer()
    failed_count = fields.Integer()
    voided_count = fields.Integer()
    notes = fields.String(allow_none=True)
    external_transaction_id = fields.String(allow_none=True)
    needs_manual_review = fields.Boolean()
    review_status = one_of(ReviewStatus, allow_none=True)
    hold_until = Instant(allow_none=True)
