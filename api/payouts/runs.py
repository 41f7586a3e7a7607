"""What a payout run would pay, and the run itself.

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
from api.edge.relay_waker import wake_relay
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
from schemas.payouts.run import PayoutPreviewRecord, PreviewBody, RunBody, RunRecord

blueprint = Blueprint("payout_runs", __name__)

# Room for as many ids as a filter takes.
_LARGEST = 512 * KIB
_PREVIEW = Guard(
    audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter, max_body_bytes=_LARGEST
)
_RUN = Guard(
    audience="dashboard",
    scope="read_write",
    role=Role.Owner,
    needs_login=True,
    fresh_s=FRESH_S,
    max_body_bytes=_LARGEST,
)
_SHOWN = PayoutPreviewRecord()
_RECEIPT = RunRecord()

_FILTER_REFUSALS = (
    "400 unsupported_currency",
    "400 unsupported_method",
    "400 invalid_affiliate_ids",
    "404 not_found",
)
#: The gates that a run and a retry pass, in their order.
GATES = (
    "409 payouts_require_active_subscription",
    "409 identity_required",
    "409 high_risk_unverified",
    "409 unverified_prefund_only",
    "409 unverified_cap_exceeded",
    "409 funding_frozen",
)


@blueprint.post("/api/v1/payouts/preview")
@operation(_PREVIEW, object_of(_SHOWN), takes=PreviewBody(), refuses=_FILTER_REFUSALS)
def preview_payouts() -> Response:
    """Show what a run with these filters would pay now, and commit nothing."""
    wanted = body.load_optional()
    return idempotency.run_once(lambda: (200, _previewed(wanted)))


def _previewed(wanted: Mapping[str, Any]) -> dict[str, Any]:
    now, filters = clock.now(), RunFilters(**wanted["filters"])
    if wanted["affiliate_id"]:
        run_filters.check_affiliate(organization_id=guards.organization_id(), affiliate_id=wanted["affiliate_id"])
    run_filters.check(organization_id=guards.organization_id(), filters=filters)
    found = run_plan.preview(
        organization_id=guards.organization_id(),
        filters=filters,
        method=wanted["method"],
        with_ids=wanted["list_conversions"],
        now=now,
    )
    return shown(found, now, with_methods=wanted["list_methods"])


def shown(found: PayoutPreview, now: datetime, *, with_methods: bool = False) -> dict[str, Any]:
    """Return a preview as the API shows it, when asked with the method of each candidate."""
    told: dict[str, Any] = _SHOWN.dump(_told(found, now, with_methods=with_methods))
    return told


def _told(found: PayoutPreview, now: datetime, *, with_methods: bool) -> dict[str, Any]:
    candidates, eligible = found.planned.candidates, found.eligible
    payout_total_cents = found.planned.payout_total_cents
    methods = [candidate.payee.method for candidate in candidates]
    return {
        "total_eligible_cents": found.planned.confirm_total_cents,
        "total_eligible_in_home_currency_cents": sum(part.home_cents for part in eligible),
        "candidate_count": len(candidates),
        "candidates_with_processor_connect_count": methods.count(Method.ProcessorConnect),
        "grace_days": found.organization.payout_grace_days,
        "home_currency": found.organization.home_currency,
        "eligible_by_currency": _summed((part.due.currency, part.due.cents) for part in eligible),
        "unconvertible_by_currency": _summed(
            (part.due.currency, part.unvalued_cents) for part in eligible if part.unvalued_cents
        ),
        "native_totals_for_run": found.planned.native_totals,
        "fx_unavailable_currencies": found.planned.unavailable,
        "usd_estimate_at_run_rate_cents": payout_total_cents,
        "payout_total_usd_cents": payout_total_cents,
        "payout_count": len(found.planned.payouts),
        "fx_run_rates": _rates(found, now),
        "candidates": [
            _candidate(candidate, part) | ({"method": candidate.payee.method} if with_methods else {})
            for candidate, part in zip(candidates, eligible, strict=True)
        ],
    }


def _candidate(candidate: PayoutCandidate, part: EligibleSum) -> dict[str, Any]:
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


def _rates(found: PayoutPreview, now: datetime) -> dict[str, dict[str, Any]]:
    own = {PAYOUT_CURRENCY: {"rate": USD_RATE, "as_of": now.astimezone(UTC).date().isoformat()}}
    rates = found.planned.rates.items()
    return own | {currency: {"rate": rate.per_usd, "as_of": rate.on.isoformat()} for currency, rate in rates}


def _summed(amounts: Iterable[tuple[str, int]]) -> dict[str, int]:
    sums: defaultdict[str, int] = defaultdict(int)
    for currency, cents in amounts:
        sums[currency] += cents
    return dict(sorted(sums.items()))


@blueprint.post("/api/v1/payouts/run")
@operation(
    _RUN,
    object_of(_RECEIPT),
    takes=RunBody(),
    refuses=(*_FILTER_REFUSALS, "409 payouts_on_hold", *GATES, "409 confirm_total_mismatch", "409 nothing_to_pay"),
)
def run_payouts() -> Response:
    """Pay what is due and ready, as its total confirms. 200 with the receipt: one Pending payout per affiliate, in USD.

    Send the preview's totalEligibleCents for the same filters, its fxRunRates as confirmFxRates to be paid by no
    other rates, and its payoutTotalUsdCents as confirmPayoutTotalUsdCents to pay no other sum. What is not the present
    state is refused, and nothing is written.
    """
    wanted = body.load()
    answer = idempotency.run_once(lambda: _run(wanted))
    wake_relay()
    return answer


def _run(wanted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now, filters = clock.now(), RunFilters(**wanted["filters"])
    run_filters.check(organization_id=guards.organization_id(), filters=filters)
    request = RunRequest(
        confirm_total_cents=wanted["confirm_total_cents"],
        confirm_totals=wanted["confirm_totals"],
        confirm_payout_cents=wanted["confirm_payout_total_usd_cents"],
        filters=filters,
        method=wanted["method"],
        notes=wanted["notes"],
        external_transaction_id=wanted["external_transaction_id"],
        shown_filters=_shown_filters(wanted),
        confirm_rates=_confirmed_rates(wanted),
        confirmed_by=guards.caller().member_id,
    )
    receipt = run.create(organization_id=guards.organization_id(), request=request, now=now)
    shown: dict[str, object] = _RECEIPT.dump(_receipt(receipt))
    # Not the payouts themselves: there may be thousands, and each has its own history.
    known = {name: value for name, value in shown.items() if name != "payouts"}
    known |= {"payoutCount": len(receipt.payouts), "filters": request.shown_filters, "notes": request.notes}
    audit.record("payout.run", receipt.run.id, after=known, now=now)
    return 200, shown


def _confirmed_rates(wanted: Mapping[str, Any]) -> dict[str, RunRate] | None:
    sent = wanted["confirm_fx_rates"]
    return None if sent is None else {name: RunRate(rate["rate"], rate["as_of"]) for name, rate in sent.items()}


def _shown_filters(wanted: Mapping[str, Any]) -> dict[str, Any]:
    filters = wanted["filters"]
    shown = {
        "programId": filters["program_id"] and str(filters["program_id"]),
        "since": filters["since"] and Instant.render(filters["since"]),
        "affiliateIds": filters["affiliate_ids"] and [str(one) for one in filters["affiliate_ids"]],
        "conversionIds": filters["conversion_ids"] and [str(one) for one in filters["conversion_ids"]],
        "method": wanted["method"],
    }
    return {name: value for name, value in shown.items() if value is not None}


def _receipt(receipt: Receipt) -> dict[str, Any]:
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
