"""The ledger's checks, payouts that wait for an operator, and reference rates in the API. Payouts in US cents."""

from marshmallow import fields, validate

from domain.payouts.states import PayoutStatus
from schemas.base import Instant, Wire, line, not_blank, one_of, text
from schemas.operator.queues import WhyBody
from schemas.paging import QueryFlag
from schemas.payouts.payout import day

_MAX_REFERENCE_CHARS = 200
_MAX_WHY_CHARS = 1_000
#: The limit of a file of rates as text.
MAX_RATE_FILE_CHARS = 4_000_000


class LedgerFindingRecord(Wire):
    """A violated rule of the ledger, and where."""

    rule = fields.String()
    exception = fields.String()


class LedgerCheckRecord(Wire):
    """The result of the last check of an organization's money."""

    organization_id = fields.UUID()
    organization = fields.String(attribute="name")
    checked_at = Instant()
    findings = fields.List(fields.Nested(LedgerFindingRecord))


class LedgerQuery(Wire):
    """The filter of checks: all organizations, or those with violations."""

    red = QueryFlag(load_default=False)


class LedgerCheckBody(Wire):
    """The organization to check; null: all."""

    organization_id = fields.UUID(load_default=None, allow_none=True)


class OperatorRunRecord(Wire):
    """A payout run with the current sum of its payouts. `confirmedBy` null: an automatic cadence."""

    id = fields.UUID()
    organization_id = fields.UUID()
    organization = fields.String()
    confirmed_by = fields.UUID(allow_none=True)
    payouts = fields.Integer()
    amount_cents = fields.Integer()
    pending = fields.Integer()
    review_status = fields.String(allow_none=True)
    hold_until = Instant(allow_none=True)
    created_at = Instant()


class ReviewRunsQuery(Wire):
    """The filter of runs: those that wait for a review, or with false all."""

    waiting = QueryFlag(load_default=True)


class RunReviewBody(WhyBody):
    """The decision about a waiting run: approve releases its payouts, reject fails them."""

    decision = one_of(("approve", "reject"), required=True)


class ReviewedRunRecord(Wire):
    """A decided run."""

    id = fields.UUID(attribute="run_id")
    review_status = fields.String(attribute="status")
    payouts = fields.Integer()


class DoubtfulPayoutRecord(Wire):
    """A payout of unknown result: the calls to its rail, their times, and the last answer."""

    id = fields.UUID()
    organization_id = fields.UUID()
    organization = fields.String()
    affiliate_id = fields.UUID()
    amount_cents = fields.Integer()
    method = fields.String()
    status = one_of(PayoutStatus)
    attempt = fields.Integer()
    key = fields.String(allow_none=True)
    asked = fields.Integer(allow_none=True)
    asked_at = Instant(allow_none=True)
    detail = fields.String(allow_none=True)
    contradicted = fields.Boolean()


class PayoutAttemptRecord(Wire):
    """An attempt at a payout: its key, the number and time of calls to the rail, and the last answer."""

    number = fields.Integer()
    key = fields.String()
    method = fields.String()
    amount_cents = fields.Integer()
    state = fields.String()
    asked = fields.Integer()
    asked_at = Instant()
    detail = fields.String(allow_none=True)


class PayoutAttemptsRecord(Wire):
    """A payout with every attempt at it."""

    wire_name = "PayoutAsked"

    id = fields.UUID()
    organization_id = fields.UUID()
    affiliate_id = fields.UUID()
    amount_cents = fields.Integer()
    method = fields.String()
    status = one_of(PayoutStatus)
    failure_reason = fields.String(allow_none=True)
    attempts = fields.List(fields.Nested(PayoutAttemptRecord))


class SettleBody(Wire):
    """An operator's finding: `paidAs` is the rail's reference of the payment, `failedBecause` why it failed."""

    paid_as = line(longest=_MAX_REFERENCE_CHARS, load_default=None, allow_none=True, validate=[not_blank])
    failed_because = text(longest=_MAX_WHY_CHARS, load_default=None, allow_none=True, validate=[not_blank])


class SettledPayoutRecord(Wire):
    """A settled payout."""

    id = fields.UUID(attribute="payout_id")
    status = one_of(PayoutStatus)


class ToldEventRecord(Wire):
    """A notification of a rail, and its effect."""

    wire_name = "RailWord"

    rail = fields.String()
    event_id = fields.String()
    organization_id = fields.UUID(allow_none=True)
    payout_id = fields.UUID(allow_none=True)
    payout_key = fields.String(allow_none=True)
    answer = fields.String()
    detail = fields.String(allow_none=True)
    outcome = fields.String()
    received_at = Instant()


class RailEventsQuery(Wire):
    """The filter of notifications: those about unknown payouts or against our books, or with false all."""

    open = QueryFlag(load_default=True)


class RateAgeRecord(Wire):
    """The age of a used currency's newest rate. `waitingCents` waits for a fresh one, in minor units."""

    currency = fields.String()
    newest = day(allow_none=True)
    age_days = fields.Integer(attribute="days", allow_none=True)
    is_stale = fields.Boolean()
    waiting_cents = fields.Integer()


class RateFileBody(Wire):
    """A file of rates as text: CSV with currency, perUsd and date, or the XML of the European Central Bank."""

    content = text(longest=MAX_RATE_FILE_CHARS, required=True, validate=[not_blank])


class LoadedRatesRecord(Wire):
    """The result of loading a file of rates."""

    new = fields.Integer()
    replaced = fields.Integer()
    known = fields.Integer()
    newest = day()
    skipped = fields.List(fields.String(), validate=validate.Length(max=1_000))
