"""The signed-in affiliate's applications whose form has a second step.

Source: tracking spec, section 6, affiliate.application_completed.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import KIB, Guard
from api.edge import body, idempotency, path
from api.edge.operations import array, object_of, operation
from api.storefront import second_steps
from domain.refusals import not_found
from models import db
from models.affiliates import own_applications
from schemas.me.application import (
    HandedInAnswersRecord,
    OwnApplicationRecord,
    SecondStepBody,
    own_application_records,
)

blueprint = Blueprint("own_applications", __name__)

_READ = Guard(audience="affiliate", verified_email=True)
_WRITE = Guard(audience="affiliate", scope="read_write", verified_email=True, max_body_bytes=256 * KIB)
_ANSWER = HandedInAnswersRecord()


@blueprint.get("/api/me/applications")
@operation(_READ, array(OwnApplicationRecord()))
def list_own_applications() -> list[dict[str, Any]]:
    """List the caller's applications to programs whose form has a second step. Budget: 1 statement."""
    account = guards.account()
    with db.any_org_work():
        rows = own_applications.any_org_list_applications(account_id=account.id, email=account.email)
    return own_application_records(rows)


@blueprint.post("/api/me/applications/<affiliate_id>/answers")
@operation(
    _WRITE,
    object_of(_ANSWER),
    takes=SecondStepBody(),
    refuses=("400 invalid_request", "404 not_found", "409 application_closed"),
)
def submit_own_answers(affiliate_id: str) -> Response:
    """Submit the second step of an application, for the first time or again. 200 with the stored answers."""
    wanted_id, account = path.uuid(affiliate_id, "application"), guards.account()
    with db.any_org_work():
        organization_id = own_applications.any_org_find_organization(
            account_id=account.id, email=account.email, affiliate_id=wanted_id
        )
    if organization_id is None:
        raise not_found("application", wanted_id)
    submitted = body.load()["answers"]
    return idempotency.run_once(
        lambda: _submit(organization_id, wanted_id, submitted), organization_id=organization_id, wakes_relay=True
    )


def _submit(organization_id: UUID, affiliate_id: UUID, submitted: Mapping[str, Any]) -> idempotency.Answer:
    stored = second_steps.submit(organization_id, affiliate_id, submitted, now=clock.now())
    return 200, _ANSWER.dump(stored)
