"""The tracking links of one affiliate.

Source: core spec, "Affiliate" (tracking link) and section 8 "Limits" (affiliate links).
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.affiliates import serializers
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from domain.organization import plans
from domain.organization.access import Role
from models import db
from pipelines.affiliates import affiliate_links, management
from schemas.affiliates.affiliate import AffiliateLinkRecord
from schemas.affiliates.link import AffiliateLinkBody

blueprint = Blueprint("affiliate_links", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
_RECORD = AffiliateLinkRecord()


@blueprint.get("/api/v1/affiliates/<affiliate_id>/links")
@operation(_READ, array(_RECORD), refuses=("404 not_found",), may_lag="answer")
def list_affiliate_links(affiliate_id: str) -> list[Any]:
    """List an affiliate's links, the default one first."""
    wanted_id = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        _check_exists(wanted_id)
        links = serializers.list_links(wanted_id)
    return [serializers.serialize_link(link) for link in links]


@blueprint.post("/api/v1/affiliates/<affiliate_id>/links")
@operation(
    _WRITE,
    object_of(_RECORD),
    status=201,
    takes=AffiliateLinkBody(),
    refuses=("400 slug_reserved", "404 not_found", "409 alias_already_taken", "409 link_limit_reached"),
)
def create_affiliate_link(affiliate_id: str) -> Response:
    """Add a link to an affiliate. 201 with the link."""
    wanted_id = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        _check_exists(wanted_id)
    requested = body.load_optional()
    return idempotency.run_once(lambda: _create(wanted_id, requested))


def _create(affiliate_id: UUID, requested: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    affiliate = management.lock(organization_id=guards.organization_id(), affiliate_id=affiliate_id)
    link = affiliate_links.add(affiliate=affiliate, alias=requested["alias"], format=requested["format"], now=now)
    record = serializers.serialize_link(link)
    audit.record("tracking_link.created", link.id, after=record, now=now)
    return 201, record


@blueprint.delete("/api/v1/affiliates/<affiliate_id>/links/<link_id>")
@operation(_WRITE, status=204, refuses=("404 not_found", "409 default_link_required"))
def delete_affiliate_link(affiliate_id: str, link_id: str) -> Response:
    """Delete a link; the default link cannot be deleted. 204."""
    now, organization_id = clock.now(), guards.organization_id()
    wanted_id, wanted_link = path.uuid(affiliate_id, "affiliate"), path.uuid(link_id, "link")
    with db.unit_of_work(organization_id):
        _check_exists(wanted_id)
        link = affiliate_links.remove(
            organization_id=organization_id, affiliate_id=wanted_id, link_id=wanted_link, now=now
        )
        audit.record("tracking_link.deleted", link.id, before=serializers.serialize_link(link), now=now)
    return Response(status=204)


def _check_exists(affiliate_id: UUID) -> None:
    management.find(organization_id=guards.organization_id(), affiliate_id=affiliate_id)
