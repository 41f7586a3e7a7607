"""Signed ingest: sales and refunds from the brand's own servers.

Source: tracking spec, section 4 "Server-to-server sale" and "Refund".
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api import answers, body, errors, guards
from api.guards import Guard, guarded
from api.wake import wake_relay
from domain import plans
from pipelines import clock, refund, sale
from schemas.sale import RefundAnswer, RefundBody, SaleBody

blueprint = Blueprint("tracking", __name__)

_SALE = Guard(
    audience="signed",
    scope="read_write",
    plan=plans.Tier.Starter,
    bucket="s2s",
    takes_legacy_header=True,
    accepts_any_trial=True,
    needs_no_gateway=True,
)
_REFUND = Guard(
    audience="signed",
    scope="read_write",
    plan=plans.Tier.Starter,
    bucket="s2s",
    max_body_bytes=4096,
    accepts_any_trial=True,
)
_SALE_BODY = SaleBody()
_REFUND_BODY = RefundBody()
_REFUND_ANSWER = RefundAnswer()


@blueprint.post("/api/tracking/s2s")
@guarded(_SALE)
def post_sale() -> Response:
    """Accept a signed sale. 200 with the conversion id, or `deduped` for one that is known."""
    posted = body.load(_SALE_BODY, code="invalid_body")
    answer = answers.once(lambda: _record(posted))
    wake_relay()
    return answer


def _record(posted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    caller = guards.caller()
    recorded = sale.record(organization_id=caller.organization_id, sale=posted, is_test=caller.is_test, now=clock.now())
    if recorded.refusal is not None:
        # Refused, and yet something was written: the row that lists the sale as uncredited.
        return recorded.refusal.status, errors.envelope(recorded.refusal)
    if recorded.conversion_id is None:
        return 200, {"ok": True, "deduped": True}
    return 200, {"ok": True, "conversionId": str(recorded.conversion_id)}


@blueprint.post("/api/tracking/refund")
@blueprint.post("/api/v1/tracking/refund")
@guarded(_REFUND)
def post_refund() -> Response:
    """Refund a sale by its external id, in part or whole. 200 with this refund's and the running total."""
    posted = body.load(_REFUND_BODY, code="invalid_body")
    answer = answers.once_per_signature(lambda: _refund(posted))
    wake_relay()
    return answer


def _refund(posted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    refunded = refund.apply(
        organization_id=guards.organization_id(),
        external_event_id=posted["external_event_id"],
        requested_cents=posted["refund_amount_cents"],
        now=clock.now(),
    )
    return 200, _REFUND_ANSWER.dump(refunded)
