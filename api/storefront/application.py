"""The public application form of a campaign.

Source: tracking spec, "Public storefront" (apply).
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access.guards import KIB, Guard
from api.affiliates import serializers
from api.edge import audit, body, idempotency, path
from api.edge.operations import object_of, operation
from models import db
from pipelines.storefront import applications
from schemas.storefront.application import ApplicationAnswer, ApplicationBody

blueprint = Blueprint("storefront", __name__)

# Ten long answers in any script, and the other fields.
_MAX_BODY_BYTES = 256 * KIB
_APPLY = Guard(audience="public", bucket="apply", max_body_bytes=_MAX_BODY_BYTES)
_ANSWER = ApplicationAnswer()


@blueprint.post("/api/p/id/<program_id>/apply")
@operation(
    _APPLY,
    object_of(_ANSWER),
    takes=ApplicationBody(),
    refuses=(
        "400 invalid_request",
        "400 slug_reserved",
        "404 not_found",
        "409 alias_already_taken",
        "409 program_at_capacity",
    ),
)
def apply_to_program(program_id: str) -> Response:
    """Apply to a campaign. 200 with the same response for every outcome."""
    campaign_id = path.uuid(program_id, "program")
    with db.any_org_work():
        organization_id = applications.any_org_find_owner(campaign_id)
        application = body.load()
        has_account = applications.any_org_has_account(email=application["email"], program_id=campaign_id)
    return idempotency.run_once(
        lambda: _apply(organization_id, campaign_id, application, has_account),
        organization_id=organization_id,
        wakes_relay=True,
    )


def _apply(
    organization_id: UUID, program_id: UUID, application: Mapping[str, Any], has_account: bool
) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    filed = applications.apply(organization_id=organization_id, program_id=program_id, application=application, now=now)
    # A repeated application is audited as well: the brand can see it, and its commit takes no less time.
    audit.record(
        "affiliate.applied" if filed.affiliate else "affiliate.applied_again",
        filed.affiliate_id,
        after=serializers.serialize_for_audit(filed.affiliate, filed.links) if filed.affiliate else None,
        now=now,
        organization_id=organization_id,
    )
    return 200, _ANSWER.dump({"account_exists": has_account, "email": application["email"]})
