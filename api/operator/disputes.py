"""Disputes about milestones of deals, of every organization: an operator hears both sides and settles them."""

from collections.abc import Mapping
from dataclasses import asdict
from uuid import UUID

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from api.operator.operator_guards import DECIDE, READ
from models import db
from models.deals import admin_queries
from pipelines.operating import deal_disputes
from schemas.operator.disputes import DisputeRecord, SettlementBody, WholeDealRecord
from schemas.operator.queues import WhyBody

blueprint = Blueprint("operator_disputes", __name__)

_DISPUTE = DisputeRecord()
_WHOLE = WholeDealRecord()
_MAX_ROWS = 200
_MILESTONE = "/api/operator/deals/<deal_id>/milestones/<seq>"
_DECISION_REFUSALS = ("404 not_found", "409 invalid_status_transition")


@blueprint.get("/api/operator/disputes")
@operation(READ, array(_DISPUTE))
def list_disputes() -> Response:
    """List up to 200 milestones that wait for a settlement, longest waiting first. Budget: 1 round trip."""
    with db.any_org_work():
        rows = admin_queries.any_org_list_disputes(limit=_MAX_ROWS)
    return jsonify(_DISPUTE.dump(rows, many=True))


@blueprint.get("/api/operator/deals/<deal_id>")
@operation(READ, object_of(_WHOLE), refuses=("404 not_found",))
def get_whole_deal(deal_id: str) -> Mapping[str, object]:
    """Show a deal with its milestones and disputes, and the requests to its funding source with their answers.

    Budget: 5 round trips, for any number of them.
    """
    wanted_id = path.uuid(deal_id, "deal")
    with db.any_org_work():
        return _serialize(wanted_id)


@blueprint.post(f"{_MILESTONE}/settle")
@operation(DECIDE, object_of(_WHOLE), takes=SettlementBody(), refuses=("400 amount_out_of_range", *_DECISION_REFUSALS))
def mark_milestone_settled(deal_id: str, seq: str) -> Response:
    """Settle a dispute: a part of the milestone is paid to the affiliate, the rest is refunded to the brand.

    It cannot be undone. 200 with the deal; both amounts are sent as soon as possible. The brand's audit log keeps the
    reason.
    """
    wanted_id, number, settlement = path.uuid(deal_id, "deal"), path.number(seq, "milestone"), body.load()

    def settle() -> idempotency.Answer:
        now = clock.now()
        deal, settled = deal_disputes.any_org_settle(
            deal_id=wanted_id, seq=number, to_affiliate_cents=settlement["to_affiliate_cents"], now=now
        )
        details = {**deal_disputes.audit_data(deal, settled), "why": settlement["why"]}
        audit.record("deal.settled", wanted_id, after=details, organization_id=deal.organization_id, now=now)
        return 200, _serialize(wanted_id)

    return idempotency.run_once_for_operator(settle, wakes_relay=True)


@blueprint.post(f"{_MILESTONE}/refund")
@operation(DECIDE, object_of(_WHOLE), takes=WhyBody(), refuses=_DECISION_REFUSALS)
def retry_milestone_refund(deal_id: str, seq: str) -> Response:
    """Retry the refund of a settled milestone that its funding source refused, under a new key. 200 with the deal."""
    wanted_id, number, why = path.uuid(deal_id, "deal"), path.number(seq, "milestone"), body.load()["why"]

    def retry() -> idempotency.Answer:
        now = clock.now()
        deal = deal_disputes.any_org_retry_refund(deal_id=wanted_id, seq=number)
        details = {"seq": number, "why": why}
        audit.record("deal.refund_asked", wanted_id, after=details, organization_id=deal.organization_id, now=now)
        return 200, _serialize(wanted_id)

    return idempotency.run_once_for_operator(retry, wakes_relay=True)


def _serialize(deal_id: UUID) -> Mapping[str, object]:
    whole = deal_disputes.any_org_find(deal_id)
    sides = {"organization": whole.sides.organization, "affiliate_email": whole.sides.affiliate}
    # A milestone is paid by its only payout that is not voided.
    paying = {payout.seq: payout.id for payout in whole.payouts if payout.voided_at is None}
    parts = [{**asdict(part), "payout_id": paying.get(part.seq)} for part in whole.milestones]
    lists = {"milestones": parts, "payouts": whole.payouts, "requests": whole.requests}
    return _WHOLE.dump({**asdict(whole.deal), **sides, **lists})
