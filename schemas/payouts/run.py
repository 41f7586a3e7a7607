"""Previews and runs of payouts in the API.

Source: core spec, "Payouts" (preview, run, preview response fields).
"""

from typing import Any

import orjson
from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from domain.money import currencies
from domain.payouts.plan import PAYOUT_CURRENCY, BlockReason
from domain.payouts.states import PayoutStatus, ReviewStatus
from domain.payouts.transfers import Method
from domain.refusals import Refused
from schemas.base import MAY_LACK, Amount, Flag, Instant, Wire, integer, line, one_of, text
from schemas.collection_fields import Entries, Items
from schemas.payouts.payout import MAX_REFERENCE_CHARS, day

_MAX_IDS = 10_000
_MAX_NOTES_CHARS = 2_000
_AUTO = "Auto"
_FILTERS = ("program_id", "since", "affiliate_ids", "conversion_ids")


def _ids() -> Items:
    # An empty list and null are refused, since they must not mean all affiliates.
    return Items(fields.UUID(), most=_MAX_IDS, least=1, load_default=None, allow_none=False)


class _Narrowed(Wire):
    """The filters of previews and runs. Loads to `filters` and `method` (None: each affiliate on their own rail).

    Refuses with codes of its own: unsupported_currency, unsupported_method.
    """

    program_id = fields.UUID(load_default=None, allow_none=True)
    since = Instant(load_default=None, allow_none=True)
    affiliate_ids = _ids()
    conversion_ids = _ids()
    currency = text(longest=255, load_default=None, allow_none=True)
    method = text(longest=255, load_default=None, allow_none=True)

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        _check_currency(body.pop("currency"))
        body["method"] = _method(body["method"])
        filters = {name: body.pop(name) for name in _FILTERS}
        for name in ("affiliate_ids", "conversion_ids"):
            filters[name] = filters[name] and tuple(dict.fromkeys(filters[name]))
        return body | {"filters": filters}


class PayoutPreviewBody(_Narrowed):
    """The filters of a preview; by default everything. Loads with `affiliate_id`, which is also in the filters."""

    affiliate_id = fields.UUID(load_default=None, allow_none=True)
    list_conversions = Flag(load_default=True)
    list_methods = Flag(load_default=False)

    @validates_schema
    def _check_whose(self, body: dict[str, Any], **_: object) -> None:
        if body.get("affiliate_id") and body.get("affiliate_ids"):
            raise ValidationError("Send affiliateId or affiliateIds, not both.", "affiliateId")

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        loaded = super()._settle(body)
        if loaded["affiliate_id"]:
            loaded["filters"]["affiliate_ids"] = (loaded["affiliate_id"],)
        return loaded


class FxRateRecord(Wire):
    """A rate of a run: native major units per 1 USD, and the day of its publication."""

    rate = Amount()
    as_of = day()


class ConfirmedRate(Wire):
    """A rate of the preview."""

    rate = Amount(required=True)
    as_of = fields.Date(required=True)


class PayoutRunBody(_Narrowed):
    """A run, confirmed by its total, the sum of the preview's nativeTotalsForRun; `confirmTotals` is that map.

    `confirmFxRates` is the preview's fxRunRates, `confirmPayoutTotalUsdCents` its payoutTotalUsdCents: with them a run
    by other rates, or to another sum in USD, is refused.
    """

    confirm_total_cents = integer(required=True, validate=validate.Range(min=0))
    confirm_totals = Entries(
        most=len(currencies.EXPONENTS),
        keys=text(longest=3, shortest=3),
        values=integer(),
        load_default=None,
        allow_none=True,
    )
    confirm_payout_total_usd_cents = integer(load_default=None, allow_none=True, validate=validate.Range(min=0))
    confirm_fx_rates = Entries(
        most=len(currencies.EXPONENTS),
        keys=text(longest=3, shortest=3),
        values=fields.Nested(ConfirmedRate),
        load_default=None,
        allow_none=True,
    )
    external_transaction_id = line(longest=MAX_REFERENCE_CHARS, load_default=None, allow_none=True)
    notes = text(longest=_MAX_NOTES_CHARS, load_default=None, allow_none=True)

    @post_load
    def _trim(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        for name in ("external_transaction_id", "notes"):
            body[name] = (body[name] or "").strip() or None
        return body


def _check_currency(code: str | None) -> None:
    if code is not None and currencies.normalize(code) != PAYOUT_CURRENCY:
        message = f"Payouts are in {PAYOUT_CURRENCY}; each commission is converted at the run's rate."
        raise Refused(400, "unsupported_currency", message, field="currency")


def _method(method: str | None) -> str | None:
    if method in (None, _AUTO):
        return None
    if method != Method.ProcessorConnect:
        message = f"method must be {Method.ProcessorConnect} or {_AUTO}, which pays every affiliate on their own rail."
        raise Refused(400, "unsupported_method", message, field="method")
    return str(method)


def _by_currency() -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=fields.Integer())


class _WrittenIds(fields.List[Any]):
    """A list of ids that is already JSON text."""

    @staticmethod
    def render(value: str) -> orjson.Fragment:
        """Return the JSON text unchanged."""
        return orjson.Fragment(value)


class PayoutCandidateRecord(Wire):
    """One affiliate in one currency; `eligibleCents` is native, after reversals and debts.

    `payoutUsdCents` is what a run would pay for it, each conversion rounded separately; 0 where it is blocked.
    """

    affiliate_id = fields.UUID()
    affiliate_email = fields.String()
    affiliate_name = fields.String()
    currency = fields.String()
    eligible_cents = fields.Integer()
    payout_usd_cents = fields.Integer()
    conversion_count = fields.Integer()
    eligible_conversion_ids = _WrittenIds(fields.UUID())
    method = one_of(Method, allow_none=True, metadata=MAY_LACK)
    payout_ready = fields.Boolean()
    blocked_reason = one_of(BlockReason, allow_none=True)


class PayoutPreviewRecord(Wire):
    """The payouts of a run now. Maps by currency are in its own minor units."""

    total_eligible_cents = fields.Integer()
    total_eligible_in_home_currency_cents = fields.Integer()
    candidate_count = fields.Integer()
    candidates_with_processor_connect_count = fields.Integer()
    grace_days = fields.Integer()
    home_currency = fields.String()
    eligible_by_currency = _by_currency()
    unconvertible_by_currency = _by_currency()
    native_totals_for_run = _by_currency()
    fx_unavailable_currencies = fields.List(fields.String())
    usd_estimate_at_run_rate_cents = fields.Integer()
    payout_total_usd_cents = fields.Integer()
    payout_count = fields.Integer()
    fx_run_rates = fields.Dict(keys=fields.String(), values=fields.Nested(FxRateRecord))
    platform_fee_percent = fields.Constant(0)
    platform_fee_cents = fields.Constant(0)
    candidates = fields.List(fields.Nested(PayoutCandidateRecord))


class RunPayoutRecord(Wire):
    """A payout of a run. US cents."""

    payout_id = fields.UUID()
    affiliate_id = fields.UUID()
    amount_cents = fields.Integer()
    currency = fields.String()
    method = one_of(Method)
    status = fields.Constant(PayoutStatus.Pending)
    needs_manual_review = fields.Boolean()
    review_status = one_of(ReviewStatus, allow_none=True)
    hold_until = Instant(allow_none=True)


class PayoutRunRecord(Wire):
    """The result of a run. US cents; `nativeTotalsForRun` are the confirmed totals."""

    run_id = fields.UUID()
    total_cents = fields.Integer()
    currency = fields.Constant(PAYOUT_CURRENCY)
    native_totals_for_run = _by_currency()
    needs_manual_review = fields.Boolean()
    review_status = one_of(ReviewStatus, allow_none=True)
    hold_until = Instant(allow_none=True)
    payouts = fields.List(fields.Nested(RunPayoutRecord))
