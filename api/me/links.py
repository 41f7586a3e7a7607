"""The signed-in affiliate's links, in every program that they are in.

Source: core spec, section 8 "Limits" (affiliate links).
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from flask import Blueprint, Response

import settings
from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.affiliates import serializers
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from domain.refusals import Refused, not_found
from domain.statuses import AffiliateStatus
from models import db
from models.affiliates import own_links, recruits
from models.affiliates.recruits import CallerAffiliate
from pipelines.affiliates import affiliate_links, management
from schemas.affiliates.affiliate import AffiliateLinkRecord
from schemas.me.link import OwnLinkBody, OwnLinkRecord, own_link_records

blueprint = Blueprint("own_links", __name__)

_READ = Guard(audience="affiliate", verified_email=True)
_WRITE = Guard(audience="affiliate", scope="read_write", verified_email=True)
_RECENT = timedelta(days=30)


@blueprint.get("/api/me/links")
@operation(_READ, array(OwnLinkRecord()))
def list_own_links() -> list[dict[str, Any]]:
    """List the caller's links by brand and program, each program's default one first. Budget: 1 statement."""
    account = guards.account()
    with db.any_org_work():
        rows = own_links.any_org_list_links(account_id=account.id, email=account.email, since=clock.now() - _RECENT)
    return own_link_records(rows, base_url=settings.current().web.url)


@blueprint.post("/api/me/links")
@operation(
    _WRITE,
    object_of(AffiliateLinkRecord()),
    status=201,
    takes=OwnLinkBody(),
    refuses=(
        "400 slug_reserved",
        "404 not_found",
        "403 affiliate_not_active",
        "409 alias_already_taken",
        "409 link_limit_reached",
    ),
)
def create_own_link() -> Response:
    """Create another link in a program that the caller is Approved in. 201 with it."""
    values, account = body.load(), guards.account()
    with db.any_org_work():
        membership = recruits.any_org_find_caller_affiliate(
            program_id=values["program_id"], account_id=account.id, email=account.email
        )
    if membership is None:
        raise not_found("program", values["program_id"])
    if membership.status != AffiliateStatus.Approved:
        message = f"Your status in this program is {membership.status}, not Approved."
        raise Refused(403, "affiliate_not_active", message)
    return idempotency.run_once(lambda: _create(membership, values), organization_id=membership.organization_id)


def _create(membership: CallerAffiliate, values: Mapping[str, Any]) -> idempotency.Answer:
    now = clock.now()
    affiliate = management.lock(organization_id=membership.organization_id, affiliate_id=membership.affiliate_id)
    link = affiliate_links.add(affiliate=affiliate, alias=values["alias"], format=values["format"], now=now)
    record = serializers.serialize_link(link)
    audit.record("tracking_link.created", link.id, after=record, now=now, organization_id=membership.organization_id)
    return 201, record


@blueprint.delete("/api/me/links/<link_id>")
@operation(_WRITE, status=204, refuses=("404 not_found", "409 default_link_required"))
def delete_own_link(link_id: str) -> Response:
    """Delete one of the caller's links. The default link of a program cannot be deleted. 204."""
    wanted_id, account, now = path.uuid(link_id, "link"), guards.account(), clock.now()
    with db.any_org_work():
        owner = own_links.any_org_find_owner(account_id=account.id, email=account.email, link_id=wanted_id)
    if owner is None:
        raise not_found("link", wanted_id)
    with db.unit_of_work(owner.organization_id):
        link = affiliate_links.remove(
            organization_id=owner.organization_id, affiliate_id=owner.affiliate_id, link_id=wanted_id, now=now
        )
        audit.record(
            "tracking_link.deleted",
            link.id,
            before=serializers.serialize_link(link),
            now=now,
            organization_id=owner.organization_id,
        )
    return Response(status=204)
