"""The ledger's checks, payouts that wait for an operator, and reference rates on the wire. Payouts in US cents."""

from marshmallow import fields, validate

from domain.payouts.states import PayoutStatus
from schemas.base import Instant, Wire, line, not_blank, one_of, text
from schemas.operator.queues import WhyBody
from schemas.paging import QueryFlag
from schemas.payouts.payout import day

_LONGEST_REFERENCE = 200
_LONGEST_WHY = 1_000
#: How long a file of rates may be, as text.
MOST_RATE_CHARACTERS = 4_000_000


class FindingRecord(Wire):
    """A rule about the money that does not hold, and where."""

    wire_name = "LedgerFinding"

    rule = fields.String()
    exception = fields.String()


class LedgerCheckRecord(Wire):
    """What the last check of an organization's money found."""

    wire_name = "LedgerCheck"

    organization_id = fields.UUID()
    organization = fields.String(attribute="name")
    checked_at = Instant()
    findings = fields.List(fields.Nested(FindingRecord))


class LedgerQuery(Wire):
    """Which checks: of every organization, or of those where something is broken."""

    red = QueryFlag(load_default=False)


class LedgerCheckBody(Wire):
    """Whose money is to be checked; null is everybody's."""

    organization_id = fields.UUID(load_default=None, allow_none=True)


class RunForReviewRecord(Wire):
    """A payout run with what its payouts come to now. `confirmedBy` null: an automatic cadence."""

    wire_name = "OperatorRun"

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
    """Which runs: those that wait for a review, or with false all."""

    waiting = QueryFlag(load_default=True)


class RunReviewBody(WhyBody):
    """What becomes of a run that waits: approve lets its payouts go, reject fails them."""

    decision = one_of(("approve", "reject"), required=True)


class ReviewedRecord(Wire):
    """A run that was decided about."""

    wire_name = "ReviewedRun"

    id = fields.UUID(attribute="run_id")
    review_status = fields.String(attribute="status")
    payouts = fields.Integer()


class DoubtfulPayoutRecord(Wire):
    """A payout of which nobody knows whether it was paid: what its rail was asked, when, and what it said."""

    wire_name = "DoubtfulPayout"

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


class AskedRecord(Wire):
    """An attempt at a payout: what its rail was asked, since when, how often, and what it said."""

    wire_name = "PayoutAttempt"

    number = fields.Integer()
    key = fields.String()
    method = fields.String()
    amount_cents = fields.Integer()
    state = fields.String()
    asked = fields.Integer()
    asked_at = Instant()
    detail = fields.String(allow_none=True)


class PayoutAskedRecord(Wire):
    """A payout with every attempt at it."""

    wire_name = "PayoutAsked"

    id = fields.UUID()
    organization_id = fields.UUID()
    affiliate_id = fields.UUID()
    amount_cents = fields.Integer()
    method = fields.String()
    status = one_of(PayoutStatus)
    failure_reason = fields.String(allow_none=True)
    attempts = fields.List(fields.Nested(AskedRecord))


class SettleBody(Wire):
    """What an operator found out: `paidAs` what the rail calls the payment, or `failedBecause` why there is none."""

    paid_as = line(longest=_LONGEST_REFERENCE, load_default=None, allow_none=True, validate=[not_blank])
    failed_because = text(longest=_LONGEST_WHY, load_default=None, allow_none=True, validate=[not_blank])


class SettledRecord(Wire):
    """A payout that was settled."""

    wire_name = "SettledPayout"

    id = fields.UUID(attribute="payout_id")
    status = one_of(PayoutStatus)


class ToldEventRecord(Wire):
    """What a rail said by itself, and what became of it."""

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
    """Which words of rails: those about nothing known or against ours, or with false all."""

    open = QueryFlag(load_default=True)


class RateAgeRecord(Wire):
    """How old the newest rate of a currency in use is. `waitingCents` is what waits for a fresh one, minor units."""

    wire_name = "RateAge"

    currency = fields.String()
    newest = day(allow_none=True)
    age_days = fields.Integer(attribute="days", allow_none=True)
    is_stale = fields.Boolean()
    waiting_cents = fields.Integer()


class RateFileBody(Wire):
    """A file of rates as text: CSV with currency, perUsd and date, or the XML of the European Central Bank."""

    content = text(longest=MOST_RATE_CHARACTERS, required=True, validate=[not_blank])


class LoadedRecord(Wire):
    """What came of a file of rates."""

    wire_name = "LoadedRates"

    new = fields.Integer()
    replaced = fields.Integer()
    known = fields.Integer()
    newest = day()
    skipped = fields.List(fields.String(), validate=validate.Length(max=1_000))
