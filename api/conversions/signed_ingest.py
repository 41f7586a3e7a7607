"""Signed ingest: sales and refunds from the brand's own servers.

Source: tracking spec, section 4 "Server-to-server sale" and "Refund".
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body, errors, idempotency
from api.edge.operations import object_of, operation
from api.edge.relay_waker import wake_relay
from domain.organization import plans
from pipelines.conversions import acceptance, refund
from schemas.conversions.sale import RefundAnswer, RefundBody, SaleAnswer, SaleBody

blueprint = Blueprint("tracking", __name__)

_REFUND = Guard(
    audience="signed",
    scope="read_write",
    plan=plans.Tier.Starter,
    bucket="s2s",
    max_body_bytes=4096,
    accepts_any_trial=True,
)
_REFUND_ANSWER = RefundAnswer()


@blueprint.post("/api/tracking/s2s")
@operation(
    guards.SIGNED_INGEST,
    object_of(SaleAnswer()),
    takes=SaleBody(),
    refuses=(
        "400 external_event_id_required",
        "400 affiliate_slug_required",
        "400 amount_out_of_range",
        "400 unsupported_currency",
        "400 invalid_body",
        "400 no_active_program",
        "400 affiliate_not_found",
        "400 affiliate_not_active",
        "400 not_a_sale_campaign",
        "409 {gateway}_connect_active",
    ),
)
def record_sale() -> Response:
    """Accept a signed sale. 200 with the conversion id, or `deduped` if the sale was recorded before."""
    posted = body.load(code="invalid_body")
    return idempotency.run_once(lambda: _record(posted), is_single=True, wakes_relay=True)


def _record(posted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    caller = guards.caller()
    receipt = acceptance.accept_sale(
        organization_id=caller.organization_id, body=posted, is_test=caller.is_test, now=clock.now()
    )
    if receipt.refusal is not None:
        # The refusal is returned, not raised, so that the row of the uncredited sale is committed.
        return receipt.refusal.status, errors.envelope(receipt.refusal)
    if receipt.conversion_id is None:
        return 200, {"ok": True, "deduped": True}
    return 200, {"ok": True, "conversionId": str(receipt.conversion_id)}


@blueprint.post("/api/tracking/refund")
@blueprint.post("/api/v1/tracking/refund")
@operation(
    _REFUND,
    object_of(_REFUND_ANSWER),
    takes=RefundBody(),
    refuses=(
        "400 invalid_body",
        "404 conversion_not_found",
        "413 payload_too_large",
        "422 external_event_id_required",
        "422 refund_amount_invalid",
        "422 already_fully_refunded",
        "422 amount_exceeds_original",
    ),
)
def refund_sale() -> Response:
    """Refund a sale by its external id, in part or in full. 200 with this refund and the running total."""
    posted = body.load(code="invalid_body")
    answer = idempotency.run_once_per_signature(lambda: _refund(posted))
    wake_relay()
    return answer


def _refund(posted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    refunded = refund.refund_by_external_id(
        organization_id=guards.organization_id(),
        external_event_id=posted["external_event_id"],
        requested_cents=posted["refund_amount_cents"],
        now=clock.now(),
    )
    return 200, _REFUND_ANSWER.dump(refunded)
