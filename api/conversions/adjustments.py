"""Corrections of a conversion's amounts by people: a refund, its undoing, or another commission.

Source: tracking spec, "Refund" (amounts, answer and codes); decision 73.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import object_of, operation
from domain.conversions.refund import RefundOrigin
from domain.organization import plans
from domain.organization.access import Role
from models.conversions.conversions import Conversion
from pipelines.conversions import adjustment, refund, restoration, review
from schemas.conversions.adjustment import CommissionBody, ConversionRefundBody
from schemas.conversions.conversion import ConversionRecord
from schemas.conversions.sale import RefundAnswer

blueprint = Blueprint("conversion_adjustments", __name__)

_MANAGER = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
_ADMIN = Guard(audience="brand", scope="read_write", role=Role.Admin, plan=plans.Tier.Starter)
_RECORD = ConversionRecord()
_REFUND_ANSWER = RefundAnswer()


@blueprint.post("/api/v1/conversions/<conversion_id>/refund")
@operation(
    _MANAGER,
    object_of(_REFUND_ANSWER),
    takes=ConversionRefundBody(),
    refuses=(
        "404 not_found",
        "422 refund_amount_invalid",
        "422 already_fully_refunded",
        "422 amount_exceeds_original",
    ),
)
def refund_conversion(conversion_id: str) -> Response:
    """Refund a conversion of any source in part or in full. 200 with this refund and the running total."""
    id_in_path, now = path.uuid(conversion_id, "conversion"), clock.now()
    requested = body.load()
    return idempotency.run_once(lambda: _refund(id_in_path, requested, now), wakes_relay=True)


@blueprint.post("/api/v1/conversions/<conversion_id>/refund/restore")
@operation(_ADMIN, object_of(_RECORD), refuses=("404 not_found", "409 nothing_to_restore"))
def restore_refund(conversion_id: str) -> Response:
    """Undo all refunds that the brand recorded, but none that a gateway reported."""
    id_in_path, now = path.uuid(conversion_id, "conversion"), clock.now()
    return idempotency.run_once(lambda: _restore(id_in_path, now), wakes_relay=True)


@blueprint.post("/api/v1/conversions/<conversion_id>/adjust")
@operation(
    _MANAGER,
    object_of(_RECORD),
    takes=CommissionBody(),
    refuses=(
        "404 not_found",
        "409 conversion_in_payout",
        "409 conversion_not_adjustable",
        "422 commission_out_of_range",
    ),
)
def adjust_conversion(conversion_id: str) -> Response:
    """Set the commission of a Pending or Approved conversion, after refunds."""
    id_in_path, now = path.uuid(conversion_id, "conversion"), clock.now()
    requested = body.load()
    return idempotency.run_once(lambda: _adjust(id_in_path, requested, now), wakes_relay=True)


def _refund(conversion_id: UUID, requested: Mapping[str, Any], now: datetime) -> idempotency.Answer:
    subject = _lock(conversion_id, now)
    refunded = refund.refund_conversion(
        subject.conversion,
        requested["amount_cents"],
        now=now,
        origin=RefundOrigin.brand,
        reason=requested["reason"],
        note=requested["note"],
    )
    summary: Mapping[str, object] = _REFUND_ANSWER.dump(refunded)
    after = {name: value for name, value in summary.items() if name not in ("ok", "conversionId")}
    why = {"reason": requested["reason"], "note": requested["note"]}
    audit.record(
        "conversion.refunded", conversion_id, before=_RECORD.dump(subject.conversion), after={**after, **why}, now=now
    )
    return 200, summary


def _restore(conversion_id: UUID, now: datetime) -> idempotency.Answer:
    subject = _lock(conversion_id, now)
    return _record_change(
        "conversion.refund_restored", subject, restoration.undo_brand_refunds(subject, now=now), {}, now
    )


def _adjust(conversion_id: UUID, requested: Mapping[str, Any], now: datetime) -> idempotency.Answer:
    subject = _lock(conversion_id, now)
    why = {"reason": requested["reason"], "note": requested["note"]}
    after = adjustment.set_commission(subject, requested["commission_cents"], **why, now=now)
    return _record_change("conversion.adjusted", subject, after, why, now)


def _lock(conversion_id: UUID, now: datetime) -> review.ReviewedConversion:
    return review.lock(organization_id=guards.organization_id(), conversion_id=conversion_id, now=now)


def _record_change(
    action: str, subject: review.ReviewedConversion, result: Conversion, why: Mapping[str, object], now: datetime
) -> idempotency.Answer:
    before, after = _RECORD.dump(subject.conversion), _RECORD.dump(result)
    audit.record(action, subject.conversion.id, before=before, after={**after, **why}, now=now)
    return 200, after
