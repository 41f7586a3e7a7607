"""The links of the affiliate who signed in, in every program that they are in.

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
from schemas.affiliates.affiliate import LinkRecord
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
        held = own_links.any_org_list_links(account_id=account.id, email=account.email, since=clock.now() - _RECENT)
    return own_link_records(held, base_url=settings.current().web.url)


@blueprint.post("/api/me/links")
@operation(
    _WRITE,
    object_of(LinkRecord()),
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
    """Make one more link in a program that the caller is Approved in. 201 with it."""
    wanted, account = body.load(), guards.account()
    with db.any_org_work():
        seat = recruits.any_org_find_caller_affiliate(
            program_id=wanted["program_id"], account_id=account.id, email=account.email
        )
    if seat is None:
        raise not_found("program", wanted["program_id"])
    if seat.status != AffiliateStatus.Approved:
        message = f"Your place in this program is {seat.status}, not Approved."
        raise Refused(403, "affiliate_not_active", message)
    return idempotency.run_once(lambda: _create(seat, wanted), organization_id=seat.organization_id)


def _create(seat: CallerAffiliate, wanted: Mapping[str, Any]) -> idempotency.Answer:
    now = clock.now()
    affiliate = management.lock(organization_id=seat.organization_id, affiliate_id=seat.affiliate_id)
    made = affiliate_links.add(affiliate=affiliate, alias=wanted["alias"], format=wanted["format"], now=now)
    shown = serializers.serialize_link(made)
    audit.record("tracking_link.created", made.id, after=shown, now=now, organization_id=seat.organization_id)
    return 201, shown


@blueprint.delete("/api/me/links/<link_id>")
@operation(_WRITE, status=204, refuses=("404 not_found", "409 default_link_required"))
def delete_own_link(link_id: str) -> Response:
    """End one of the caller's links; the default one of a program stays. 204."""
    wanted_id, account, now = path.uuid(link_id, "link"), guards.account(), clock.now()
    with db.any_org_work():
        place = own_links.any_org_find_owner(account_id=account.id, email=account.email, link_id=wanted_id)
    if place is None:
        raise not_found("link", wanted_id)
    with db.unit_of_work(place.organization_id):
        gone = affiliate_links.remove(
            organization_id=place.organization_id, affiliate_id=place.affiliate_id, link_id=wanted_id, now=now
        )
        audit.record(
            "tracking_link.deleted",
            gone.id,
            before=serializers.serialize_link(gone),
            now=now,
            organization_id=place.organization_id,
        )
    return Response(status=204)
