"""The creator network for the signed-in affiliate: list programs, show one, apply.

Source: core spec, "Program fields accepted on create or update", rule 5.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

import settings
from adapters import clock
from api.access import guards
from api.access.guards import KIB, Guard
from api.affiliates import serializers
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from models import db
from models.programs import programs
from pipelines.programs import network_listing
from pipelines.storefront import network_applications
from schemas.me.network import (
    NetworkApplicationBody,
    NetworkApplicationRecord,
    NetworkProgramRecord,
    NetworkQuery,
    application_record,
    network_records,
)

blueprint = Blueprint("creator_network", __name__)

_READ = Guard(audience="affiliate", verified_email=True)
# As large as the public form's.
_MAX_BODY_BYTES = 256 * KIB
_APPLY = Guard(
    audience="affiliate", scope="read_write", verified_email=True, bucket="strict_write", max_body_bytes=_MAX_BODY_BYTES
)


@blueprint.get("/api/me/network")
@operation(_READ, page(NetworkProgramRecord()), asks=NetworkQuery(), may_lag="answer")
def list_network_programs() -> Mapping[str, Any]:
    """List programs of every brand that accept applications from affiliates of the service, last listed first.

    A description is cut after 500 characters. Budget: 1 statement.
    """
    query, account = body.query(), guards.account()
    page_request = paging.read_page_request(query)
    filters = {"category": query["category"], "model": query["commission_model"], "currency": query["currency"]}
    with db.any_org_work():
        rows = network_listing.any_org_list(
            account_id=account.id, email=account.email, filters=filters, **page_request.window
        )
    base_url = settings.current().web.url
    return paging.serialize_page(
        page_request, rows, lambda rows: network_records(rows, base_url=base_url), time_field="listed_at"
    )


@blueprint.get("/api/me/network/<program_id>")
@operation(_READ, object_of(NetworkProgramRecord()), refuses=("404 not_found",))
def get_network_program(program_id: str) -> Mapping[str, Any]:
    """Show one program of the network with its full description. Budget: 1 statement."""
    wanted_id, account = path.uuid(program_id, "program"), guards.account()
    with db.any_org_work():
        program = network_listing.any_org_find(wanted_id, account_id=account.id, email=account.email)
    return network_records([program], base_url=settings.current().web.url)[0]


@blueprint.post("/api/me/network/<program_id>/apply")
@operation(
    _APPLY,
    object_of(NetworkApplicationRecord()),
    takes=NetworkApplicationBody(),
    refuses=(
        "400 invalid_request",
        "404 not_found",
        "403 affiliate_not_active",
        "400 slug_reserved",
        "409 alias_already_taken",
        "409 program_at_capacity",
    ),
)
def apply_to_network_program(program_id: str) -> Response:
    """Apply to a program of the network with the caller's sign-in email. 200 with the caller's status in it.

    The brand gets the event `affiliate.created` once the application is approved.
    """
    wanted_id, application = path.uuid(program_id, "program"), body.load()
    with db.any_org_work():
        organization_id = programs.any_org_find_organization(wanted_id)
    if organization_id is None:
        raise network_listing.not_listed_refusal()
    return idempotency.run_once(
        lambda: _apply(organization_id, wanted_id, application), organization_id=organization_id, wakes_relay=True
    )


def _apply(organization_id: UUID, program_id: UUID, application: Mapping[str, Any]) -> idempotency.Answer:
    now, account = clock.now(), guards.account()
    matched = network_applications.apply(
        organization_id=organization_id,
        program_id=program_id,
        account_id=account.id,
        application={**application, "email": account.email},
        now=now,
    )
    filed = matched.filed
    if filed is not None and filed.affiliate is not None:
        audit.record(
            "affiliate.applied",
            filed.affiliate_id,
            after=serializers.serialize_for_audit(filed.affiliate, filed.links),
            now=now,
            organization_id=organization_id,
        )
    return 200, application_record(program_id=program_id, status=matched.status)
