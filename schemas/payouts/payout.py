"""Payouts in the API.

Source: core spec, "Payout" and "Payouts". Amounts are US cents; fields that begin with native are minor units of the
earned currency. Payout accounts are never included.
"""

from typing import Any

from marshmallow import fields

from domain.payouts.orders import PayoutOrder
from domain.payouts.states import PayoutStatus, ReviewStatus
from domain.payouts.transfers import MANUAL, Method
from schemas.base import MAY_LACK, Amount, Instant, Wire, line, not_blank, one_of
from schemas.paging import PageQuery, QueryFlag

#: Characters of the brand's own reference of a payment.
MAX_REFERENCE_CHARS = 255


def day(**options: Any) -> fields.String:
    """Return a field of a date, which the database returns as a text."""
    return fields.String(metadata={"format": "date"}, **options)


class PayoutLineRecord(Wire):
    """The amount of a payout for one conversion; negative where it holds back a reversal after payment."""

    id = fields.UUID()
    conversion_id = fields.UUID()
    occurred_at = Instant()
    amount_cents = fields.Integer()
    currency = fields.String()
    native_amount_cents = fields.Integer()
    native_currency = fields.String()
    fx_rate = Amount()
    fx_rate_date = day()
    reversed_amount_cents = fields.Integer()
    reversed_at = Instant(allow_none=True)


class PayoutRecord(Wire):
    """A payout with its lines. One of a deal's milestone (`milestoneId`) has none."""

    id = fields.UUID()
    run_id = fields.UUID()
    affiliate_id = fields.UUID()
    affiliate_name = fields.String()
    affiliate_email = fields.String()
    milestone_id = fields.UUID(allow_none=True)
    amount_cents = fields.Integer()
    currency = fields.String()
    method = one_of((*Method, MANUAL))
    status = one_of(PayoutStatus)
    attempt = fields.Integer()
    processor_transfer_id = fields.String(allow_none=True)
    wallet_batch_id = fields.String(allow_none=True)
    wallet_transaction_id = fields.String(allow_none=True)
    gp_outbound_payment_id = fields.String(allow_none=True)
    external_transaction_id = fields.String(allow_none=True)
    notes = fields.String(allow_none=True)
    failure_code = fields.String(allow_none=True)
    failure_reason = fields.String(allow_none=True)
    period_start = day()
    period_end = day()
    created_at = Instant()
    exported_at = Instant(allow_none=True)
    submitted_at = Instant(allow_none=True)
    paid_at = Instant(allow_none=True)
    failed_at = Instant(allow_none=True)
    voided_at = Instant(allow_none=True)
    needs_manual_review = fields.Boolean()
    review_status = one_of(ReviewStatus, allow_none=True)
    hold_until = Instant(allow_none=True)
    line_items = fields.List(fields.Nested(PayoutLineRecord), metadata=MAY_LACK)


class PayoutsExportQuery(Wire):
    """The filters and the order of payouts. `until` is exclusive."""

    affiliate_id = fields.UUID(load_default=None)
    status = one_of(PayoutStatus, load_default=None)
    run_id = fields.UUID(load_default=None)
    program_id = fields.UUID(load_default=None)
    since = Instant(load_default=None)
    until = Instant(load_default=None)
    sort = one_of(PayoutOrder, load_default=PayoutOrder.newest)


class PayoutsQuery(PayoutsExportQuery, PageQuery):
    """The filters and the order of the list; `lineItems=false` leaves the lines out."""

    line_items = QueryFlag(load_default=True)


class PayoutQuery(Wire):
    """`lineItems=false` leaves the lines out."""

    line_items = QueryFlag(load_default=True)


class HandPaymentBody(Wire):
    """The reference of the brand's own payment."""

    external_transaction_id = line(longest=MAX_REFERENCE_CHARS, required=True, validate=[not_blank])


class MassPayQuery(Wire):
    """The run; `claim` also takes the payouts whose rail was not called yet."""

    run_id = fields.UUID(required=True)
    claim = QueryFlag(load_default=False)


class UnverifiedRulesRecord(Wire):
    """The limits of an unverified organization."""

    holding_days = fields.Integer()
    window_days = fields.Integer()
    cap_cents = fields.Integer()
    cap_used_cents = fields.Integer()
    cap_remaining_cents = fields.Integer(allow_none=True)


class PayoutFundingRecord(Wire):
    """How an organization's payouts are funded, and whether it may pay out."""

    mode = one_of(("debit", "balance"))
    bank_transfer_balance_cents = fields.Integer(allow_none=True)
    verification_state = one_of(("unverified", "pending", "verified"))
    payouts_allowed = fields.Boolean()
    payouts_blocked_reason = fields.String(allow_none=True)
    payouts_blocked_message = fields.String(allow_none=True)
    verification_required = fields.Boolean()
    identity_required = fields.Boolean()
    can_manage_funding = fields.Boolean()
    bank_transfer_instructions = fields.String(allow_none=True)
    unverified_rules = fields.Nested(UnverifiedRulesRecord)
