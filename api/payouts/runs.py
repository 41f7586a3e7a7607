"""The preview of a payout run, and the run itself.

Source: core spec, "Payouts" (preview, run).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import FRESH_S, KIB, Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from domain.organization import plans
from domain.organization.access import Role
from domain.payouts.confirmation import RunFilters, RunRequest
from domain.payouts.plan import PAYOUT_CURRENCY, USD_RATE, PayoutCandidate, RunRate
from domain.payouts.states import ReviewStatus
from domain.payouts.transfers import Method
from models.payouts.candidates import EligibleSum
from pipelines.payouts import run, run_filters, run_plan
from pipelines.payouts.run import Receipt
from pipelines.payouts.run_plan import PayoutPreview
from schemas.base import Instant
from schemas.payouts.run import PayoutPreviewBody, PayoutPreviewRecord, PayoutRunBody, PayoutRunRecord

blueprint = Blueprint("payout_runs", __name__)

# Room for as many ids as a filter takes.
_MAX_BODY_BYTES = 512 * KIB
_PREVIEW = Guard(
    audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter, max_body_bytes=_MAX_BODY_BYTES
)
_RUN = Guard(
    audience="dashboard",
    scope="read_write",
    role=Role.Owner,
    needs_login=True,
    fresh_s=FRESH_S,
    max_body_bytes=_MAX_BODY_BYTES,
)
_PREVIEW_RECORD = PayoutPreviewRecord()
_RECEIPT = PayoutRunRecord()

_FILTER_REFUSALS = (
    "400 unsupported_currency",
    "400 unsupported_method",
    "400 invalid_affiliate_ids",
    "404 not_found",
)
#: The refusals of the checks before a run and a retry, in their order.
GATE_REFUSALS = (
    "409 payouts_require_active_subscription",
    "409 identity_required",
    "409 high_risk_unverified",
    "409 unverified_prefund_only",
    "409 unverified_cap_exceeded",
    "409 funding_frozen",
)


@blueprint.post("/api/v1/payouts/preview")
@operation(_PREVIEW, object_of(_PREVIEW_RECORD), takes=PayoutPreviewBody(), refuses=_FILTER_REFUSALS)
def preview_payouts() -> Response:
    """Show the payouts of a run with these filters now, and write nothing."""
    values = body.load_optional()
    return idempotency.run_once(lambda: (200, _preview_run(values)))


def _preview_run(values: Mapping[str, Any]) -> dict[str, Any]:
    now, filters = clock.now(), RunFilters(**values["filters"])
    if values["affiliate_id"]:
        run_filters.check_affiliate(organization_id=guards.organization_id(), affiliate_id=values["affiliate_id"])
    run_filters.check(organization_id=guards.organization_id(), filters=filters)
    preview = run_plan.preview(
        organization_id=guards.organization_id(),
        filters=filters,
        method=values["method"],
        with_ids=values["list_conversions"],
        now=now,
    )
    return serialize_preview(preview, now, with_methods=values["list_methods"])


def serialize_preview(preview: PayoutPreview, now: datetime, *, with_methods: bool = False) -> dict[str, Any]:
    """Return a preview as JSON, optionally with the method of each candidate."""
    return _PREVIEW_RECORD.dump(_preview_values(preview, now, with_methods=with_methods))


def _preview_values(preview: PayoutPreview, now: datetime, *, with_methods: bool) -> dict[str, Any]:
    candidates, eligible = preview.planned.candidates, preview.eligible
    payout_total_cents = preview.planned.payout_total_cents
    methods = [candidate.payee.method for candidate in candidates]
    return {
        "total_eligible_cents": preview.planned.confirm_total_cents,
        "total_eligible_in_home_currency_cents": sum(part.home_cents for part in eligible),
        "candidate_count": len(candidates),
        "candidates_with_processor_connect_count": methods.count(Method.ProcessorConnect),
        "grace_days": preview.organization.payout_grace_days,
        "home_currency": preview.organization.home_currency,
        "eligible_by_currency": _sum_by_currency((part.due.currency, part.due.cents) for part in eligible),
        "unconvertible_by_currency": _sum_by_currency(
            (part.due.currency, part.unvalued_cents) for part in eligible if part.unvalued_cents
        ),
        "native_totals_for_run": preview.planned.native_totals,
        "fx_unavailable_currencies": preview.planned.unavailable,
        "usd_estimate_at_run_rate_cents": payout_total_cents,
        "payout_total_usd_cents": payout_total_cents,
        "payout_count": len(preview.planned.payouts),
        "fx_run_rates": _run_rates(preview, now),
        "candidates": [
            _candidate_values(candidate, part) | ({"method": candidate.payee.method} if with_methods else {})
            for candidate, part in zip(candidates, eligible, strict=True)
        ],
    }


def _candidate_values(candidate: PayoutCandidate, part: EligibleSum) -> dict[str, Any]:
    return {
        "affiliate_id": candidate.payee.affiliate_id,
        "affiliate_email": candidate.payee.email,
        "affiliate_name": candidate.payee.full_name,
        "currency": candidate.currency,
        "eligible_cents": candidate.cents,
        "payout_usd_cents": candidate.payout_cents if candidate.is_ready else 0,
        "conversion_count": part.conversions,
        "eligible_conversion_ids": part.conversion_ids_json,
        "payout_ready": candidate.is_ready,
        "blocked_reason": candidate.blocked,
    }


def _run_rates(preview: PayoutPreview, now: datetime) -> dict[str, dict[str, Any]]:
    own = {PAYOUT_CURRENCY: {"rate": USD_RATE, "as_of": now.astimezone(UTC).date().isoformat()}}
    rates = preview.planned.rates.items()
    return own | {currency: {"rate": rate.per_usd, "as_of": rate.on.isoformat()} for currency, rate in rates}


def _sum_by_currency(amounts: Iterable[tuple[str, int]]) -> dict[str, int]:
    sums: defaultdict[str, int] = defaultdict(int)
    for currency, cents in amounts:
        sums[currency] += cents
    return dict(sorted(sums.items()))


@blueprint.post("/api/v1/payouts/run")
@operation(
    _RUN,
    object_of(_RECEIPT),
    takes=PayoutRunBody(),
    refuses=(
        *_FILTER_REFUSALS,
        "409 payouts_on_hold",
        *GATE_REFUSALS,
        "409 confirm_total_mismatch",
        "409 nothing_to_pay",
    ),
)
def run_payouts() -> Response:
    """Pay the due and ready amounts, confirmed by their total. 200 with the receipt.

    It creates one Pending payout per affiliate, in USD.

    Send the preview's totalEligibleCents for the same filters, its fxRunRates as confirmFxRates to fix the rates, and
    its payoutTotalUsdCents as confirmPayoutTotalUsdCents to fix the sum. If a value differs from the current state, the
    request is refused, and nothing is written.
    """
    values = body.load()
    return idempotency.run_once(lambda: _run(values), wakes_relay=True)


def _run(values: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now, filters = clock.now(), RunFilters(**values["filters"])
    run_filters.check(organization_id=guards.organization_id(), filters=filters)
    request = RunRequest(
        confirm_total_cents=values["confirm_total_cents"],
        confirm_totals=values["confirm_totals"],
        confirm_payout_cents=values["confirm_payout_total_usd_cents"],
        filters=filters,
        method=values["method"],
        notes=values["notes"],
        external_transaction_id=values["external_transaction_id"],
        shown_filters=_serialize_filters(values),
        confirm_rates=_rates_from_body(values),
        confirmed_by=guards.caller().member_id,
    )
    receipt = run.create(organization_id=guards.organization_id(), request=request, now=now)
    record: dict[str, object] = _RECEIPT.dump(_receipt_values(receipt))
    # Not the payouts themselves: there may be thousands, and each has its own history.
    details = {name: value for name, value in record.items() if name != "payouts"}
    details |= {"payoutCount": len(receipt.payouts), "filters": request.shown_filters, "notes": request.notes}
    audit.record("payout.run", receipt.run.id, after=details, now=now)
    return 200, record


def _rates_from_body(values: Mapping[str, Any]) -> dict[str, RunRate] | None:
    rates = values["confirm_fx_rates"]
    return None if rates is None else {name: RunRate(rate["rate"], rate["as_of"]) for name, rate in rates.items()}


def _serialize_filters(values: Mapping[str, Any]) -> dict[str, Any]:
    filters = values["filters"]
    sent_filters = {
        "programId": filters["program_id"] and str(filters["program_id"]),
        "since": filters["since"] and Instant.render(filters["since"]),
        "affiliateIds": filters["affiliate_ids"] and [str(id) for id in filters["affiliate_ids"]],
        "conversionIds": filters["conversion_ids"] and [str(id) for id in filters["conversion_ids"]],
        "method": values["method"],
    }
    return {name: value for name, value in sent_filters.items() if value is not None}


def _receipt_values(receipt: Receipt) -> dict[str, Any]:
    waits = {
        "needs_manual_review": receipt.run.review_status == ReviewStatus.Pending,
        "review_status": receipt.run.review_status,
        "hold_until": receipt.run.hold_until,
    }
    return waits | {
        "run_id": receipt.run.id,
        "total_cents": receipt.total_cents,
        "native_totals_for_run": receipt.run.confirmed_totals,
        "payouts": [
            waits
            | {
                "payout_id": payout.payout_id,
                "affiliate_id": payout.affiliate_id,
                "amount_cents": payout.amount_cents,
                "currency": PAYOUT_CURRENCY,
                "method": payout.method,
            }
            for payout in receipt.payouts
        ],
    }
