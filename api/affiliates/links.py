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
from api.affiliates import view
from api.edge import answers, audit, body, path
from api.edge.operations import array, one, operation
from domain.organization import plans
from domain.organization.access import Role
from models import db
from pipelines.affiliates import affiliate_links, management
from schemas.affiliates.affiliate import LinkRecord
from schemas.affiliates.link import LinkBody

blueprint = Blueprint("affiliate_links", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
_RECORD = LinkRecord()


@blueprint.get("/api/v1/affiliates/<affiliate_id>/links")
@operation(_READ, array(_RECORD), refuses=("404 not_found",), may_lag="answer")
def list_affiliate_links(affiliate_id: str) -> list[Any]:
    """List an affiliate's links, the default one first."""
    wanted_id = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        _find(wanted_id)
        links = view.links_of(wanted_id)
    return [view.link(link) for link in links]


@blueprint.post("/api/v1/affiliates/<affiliate_id>/links")
@operation(
    _WRITE,
    one(_RECORD),
    status=201,
    takes=LinkBody(),
    refuses=("400 slug_reserved", "404 not_found", "409 alias_already_taken", "409 link_limit_reached"),
)
def create_affiliate_link(affiliate_id: str) -> Response:
    """Give an affiliate one more link. 201 with it."""
    wanted_id = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        _find(wanted_id)
    wanted = body.load_optional()
    return answers.once(lambda: _create(wanted_id, wanted))


def _create(affiliate_id: UUID, wanted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    affiliate = management.lock(organization_id=guards.organization_id(), affiliate_id=affiliate_id)
    made = affiliate_links.add(affiliate=affiliate, alias=wanted["alias"], format=wanted["format"], now=now)
    shown = view.link(made)
    audit.record("tracking_link.created", made.id, after=shown, now=now)
    return 201, shown


@blueprint.delete("/api/v1/affiliates/<affiliate_id>/links/<link_id>")
@operation(_WRITE, status=204, refuses=("404 not_found", "409 default_link_required"))
def delete_affiliate_link(affiliate_id: str, link_id: str) -> Response:
    """End a link; the default one stays. 204."""
    now, organization_id = clock.now(), guards.organization_id()
    wanted_id, wanted_link = path.uuid(affiliate_id, "affiliate"), path.uuid(link_id, "link")
    with db.unit_of_work(organization_id):
        _find(wanted_id)
        gone = affiliate_links.remove(
            organization_id=organization_id, affiliate_id=wanted_id, link_id=wanted_link, now=now
        )
        audit.record("tracking_link.deleted", gone.id, before=view.link(gone), now=now)
    return Response(status=204)


def _find(affiliate_id: UUID) -> None:
    management.find(organization_id=guards.organization_id(), affiliate_id=affiliate_id)
