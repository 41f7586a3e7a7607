"""Conversions recorded by hand.

Source: core spec, "Conversions" (manual conversion).
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from domain.organization import plans
from domain.organization.access import Role
from pipelines.conversions import manual_conversions
from schemas.conversions.conversion import ConversionRecord
from schemas.conversions.manual import ManualConversionAnswer, ManualConversionBody

blueprint = Blueprint("manual_conversions", __name__)

_WRITE = Guard(
    audience="brand",
    scope="read_write",
    role=Role.Manager,
    verified_email=True,
    plan=plans.Tier.Starter,
    bucket="strict_write",
)
_RECORD = ConversionRecord()


@blueprint.post("/api/v1/conversions")
@operation(
    _WRITE,
    object_of(ManualConversionAnswer()),
    status=201,
    takes=ManualConversionBody(),
    refuses=(
        "400 bonus_has_no_amount",
        "400 amount_out_of_range",
        "400 commission_out_of_range",
        "400 commission_exceeds_cap",
        "400 unsupported_currency",
        "400 occurred_at_out_of_range",
        "400 no_active_program",
        "400 affiliate_not_in_program",
        "400 test_affiliate_not_allowed",
        "400 not_a_sale_campaign",
        "404 not_found",
        "409 program_suspended",
        "409 affiliate_not_approved",
    ),
)
def create_conversion() -> Response:
    """Record a sale or a bonus by hand. 201; a repeated request without an Idempotency-Key records another one."""
    requested = body.load()
    return idempotency.run_once(lambda: _create(requested), wakes_relay=True)


def _create(requested: Mapping[str, Any]) -> idempotency.Answer:
    now = clock.now()
    conversion = manual_conversions.create(
        organization_id=guards.organization_id(), body=requested, is_test=guards.caller().is_test, now=now
    )
    body = {"conversion": _RECORD.dump(conversion), "note": requested["note"]}
    audit.record(
        "conversion.manual_created", conversion.id, after=body["conversion"] | {"note": requested["note"]}, now=now
    )
    return 201, body
