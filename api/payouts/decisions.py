"""An Owner's decisions about one payout: retry it, void it, mark it as paid by hand.

Source: core spec, "Payouts" (retry, the interactive session rule) and section 3 (Payout).
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import FRESH_S, Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import object_of, operation
from api.payouts.runs import GATE_REFUSALS
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.payouts import lists, payouts
from models.payouts.payouts import Payout
from pipelines.payouts import decisions
from schemas.affiliates.affiliate import Nothing
from schemas.payouts.payout import HandPaymentBody, PayoutRecord

blueprint = Blueprint("payout_decisions", __name__)

_DECIDE = Guard(audience="dashboard", scope="read_write", role=Role.Owner, needs_login=True, fresh_s=FRESH_S)
_RECORD = PayoutRecord()
# The audit log identifies the affiliate by id only.
_AUDITED = PayoutRecord(exclude=("line_items", "affiliate_name", "affiliate_email"))

_DECISION_REFUSALS = ("404 not_found", "409 invalid_status_transition", "409 payout_voided")


@blueprint.post("/api/v1/payouts/<payout_id>/retry")
@operation(
    _DECIDE,
    object_of(_RECORD),
    takes=Nothing(),
    refuses=(
        *_DECISION_REFUSALS,
        "409 review_rejected",
        "409 rail_says_paid",
        "409 paid_before_restore",
        "409 nothing_left_to_pay",
        *GATE_REFUSALS,
        "409 affiliate_not_approved",
        "409 no_payout_account",
    ),
)
def retry_payout(payout_id: str) -> Response:
    """Send a Failed payout again, to its affiliate's current payout account. 200 with it, Pending."""
    wanted_id = _check_exists(payout_id)
    body.load_optional()
    return idempotency.run_once(lambda: _decide(wanted_id, "payout.retry", decisions.retry), wakes_relay=True)


@blueprint.post("/api/v1/payouts/<payout_id>/void")
@operation(_DECIDE, object_of(_RECORD), takes=Nothing(), refuses=(*_DECISION_REFUSALS, "409 rail_says_paid"))
def void_payout(payout_id: str) -> Response:
    """Void a Failed payout, or one listed to be paid by hand: its amount is due again. 200 with it."""
    wanted_id = _check_exists(payout_id)
    body.load_optional()
    return idempotency.run_once(lambda: _decide(wanted_id, "payout.void", decisions.void), wakes_relay=True)


@blueprint.post("/api/v1/payouts/<payout_id>/mark-paid")
@operation(
    _DECIDE,
    object_of(_RECORD),
    takes=HandPaymentBody(),
    refuses=(*_DECISION_REFUSALS, "409 review_pending", "409 review_rejected", "409 nothing_left_to_pay"),
)
def mark_payout_paid(payout_id: str) -> Response:
    """Mark a Pending or Failed payout as paid by the brand itself, with the id of that payment. 200 with it."""
    wanted_id = _check_exists(payout_id)
    reference = body.load()["external_transaction_id"].strip()

    def pay(payout: Payout, *, now: datetime) -> None:
        decisions.pay_by_hand(payout, external_transaction_id=reference, now=now)

    return idempotency.run_once(lambda: _decide(wanted_id, "payout.mark_paid", pay), wakes_relay=True)


def _check_exists(payout_id: str) -> UUID:
    """Return the id of a payout of the caller's organization. Raises Refused 404 not_found."""
    wanted_id = path.uuid(payout_id, "payout")
    with db.unit_of_work(guards.organization_id()):
        if payouts.find(organization_id=guards.organization_id(), payout_id=wanted_id) is None:
            raise not_found("payout", wanted_id)
    return wanted_id


def _decide(payout_id: UUID, action: str, decide: Callable[..., None]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    locked = decisions.lock(organization_id=guards.organization_id(), payout_id=payout_id)
    before = _AUDITED.dump(_read(payout_id))
    decide(locked, now=now)
    decided = _read(payout_id)
    audit.record(action, payout_id, before=before, after=_AUDITED.dump(decided), now=now)
    record: Mapping[str, object] = _RECORD.dump(decided)
    return 200, record


def _read(payout_id: UUID) -> object:
    return lists.find(organization_id=guards.organization_id(), payout_id=payout_id)
