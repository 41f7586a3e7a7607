"""Disputes about milestones of deals, of every organization: an operator hears both sides and settles them."""

from collections.abc import Mapping
from dataclasses import asdict
from uuid import UUID

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from api.edge.relay_waker import wake_relay
from api.operator.guarding import DECIDE, READ
from models import db
from models.deals import admin_queries
from pipelines.operating import deal_disputes
from schemas.operator.disputes import DisputeRecord, SettlementBody, WholeDealRecord
from schemas.operator.queues import WhyBody

blueprint = Blueprint("operator_disputes", __name__)

_DISPUTE = DisputeRecord()
_WHOLE = WholeDealRecord()
_MOST = 200
_MILESTONE = "/api/operator/deals/<deal_id>/milestones/<seq>"
_OUT_OF_TURN = ("404 not_found", "409 invalid_status_transition")


@blueprint.get("/api/operator/disputes")
@operation(READ, array(_DISPUTE))
def list_disputes() -> Response:
    """List up to 200 milestones that wait to be settled, those that wait longest first. Budget: 1 round trip."""
    with db.any_org_work():
        found = admin_queries.any_org_list_disputes(limit=_MOST)
    return jsonify(_DISPUTE.dump(found, many=True))


@blueprint.get("/api/operator/deals/<deal_id>")
@operation(READ, object_of(_WHOLE), refuses=("404 not_found",))
def get_whole_deal(deal_id: str) -> Mapping[str, object]:
    """Show a deal with its milestones and disputes, and what its funding source was asked and said.

    Budget: 5 round trips, however many there are.
    """
    wanted_id = path.uuid(deal_id, "deal")
    with db.any_org_work():
        return _shown(wanted_id)


@blueprint.post(f"{_MILESTONE}/settle")
@operation(DECIDE, object_of(_WHOLE), takes=SettlementBody(), refuses=("400 amount_out_of_range", *_OUT_OF_TURN))
def mark_milestone_settled(deal_id: str, seq: str) -> Response:
    """Settle a dispute: a part of the milestone is paid to the affiliate, the rest goes back to the brand.

    It cannot be undone. 200 with the deal; both amounts leave as soon as they can. The brand's audit log keeps why.
    """
    wanted_id, number, sent = path.uuid(deal_id, "deal"), path.number(seq, "milestone"), body.load()

    def settle() -> idempotency.Answer:
        now = clock.now()
        deal, settled = deal_disputes.any_org_settle(
            deal_id=wanted_id, seq=number, to_affiliate_cents=sent["to_affiliate_cents"], now=now
        )
        said = {**deal_disputes.audit_data(deal, settled), "why": sent["why"]}
        audit.record("deal.settled", wanted_id, after=said, organization_id=deal.organization_id, now=now)
        return 200, _shown(wanted_id)

    answer = idempotency.run_once_for_operator(settle)
    wake_relay()
    return answer


@blueprint.post(f"{_MILESTONE}/refund")
@operation(DECIDE, object_of(_WHOLE), takes=WhyBody(), refuses=_OUT_OF_TURN)
def retry_milestone_refund(deal_id: str, seq: str) -> Response:
    """Ask once more, under a new key, for what of a settled milestone goes back and its source refused. 200 with the
    deal.
    """
    wanted_id, number, why = path.uuid(deal_id, "deal"), path.number(seq, "milestone"), body.load()["why"]

    def ask() -> idempotency.Answer:
        deal = deal_disputes.any_org_retry_refund(deal_id=wanted_id, seq=number)
        said = {"seq": number, "why": why}
        audit.record("deal.refund_asked", wanted_id, after=said, organization_id=deal.organization_id, now=clock.now())
        return 200, _shown(wanted_id)

    answer = idempotency.run_once_for_operator(ask)
    wake_relay()
    return answer


def _shown(deal_id: UUID) -> Mapping[str, object]:
    whole = deal_disputes.any_org_find(deal_id)
    sides = {"organization": whole.sides.organization, "affiliate_email": whole.sides.affiliate}
    # The payout that pays a milestone is the one of its payouts that was not let go of.
    paying = {one.seq: one.id for one in whole.payouts if one.voided_at is None}
    parts = [{**asdict(one), "payout_id": paying.get(one.seq)} for one in whole.milestones]
    lists = {"milestones": parts, "payouts": whole.payouts, "requests": whole.requests}
    shown: Mapping[str, object] = _WHOLE.dump({**asdict(whole.deal), **sides, **lists})
    return shown
