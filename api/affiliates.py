"""Affiliates, as the brand sees them.

Source: core spec, "Affiliates".
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api import answers, audit, body, guards, paging, path
from api.guards import Guard, guarded
from api.wake import wake_relay
from domain import plans
from domain.refused import not_found
from models import affiliates, db
from pipelines import affiliates as affiliate_rules
from pipelines import clock
from schemas import affiliate as wire

blueprint = Blueprint("affiliates", __name__)

_READ = Guard(audience="key", plan=plans.Tier.Starter)
_WRITE = Guard(audience="key", scope="read_write", plan=plans.Tier.Starter)
_BODY = wire.AffiliateBody()
_QUERY = wire.AffiliatesQuery()


@blueprint.post("/api/v1/affiliates")
@guarded(_WRITE)
def create_affiliate() -> Response:
    """Create an affiliate with a default link. 201 with both."""
    wanted = body.load(_BODY)
    answer = answers.once(lambda: _create(wanted))
    wake_relay()
    return answer


def _create(wanted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now, caller = clock.now(), guards.caller()
    joined = affiliate_rules.create(
        organization_id=caller.organization_id, wanted=wanted, is_test=caller.is_test, now=now
    )
    shown = wire.record(joined.affiliate, joined.links)
    audit.record("affiliate.created", joined.affiliate.id, after=shown, now=now)
    return 201, shown


@blueprint.get("/api/v1/affiliates")
@guarded(_READ)
def list_affiliates() -> Mapping[str, object]:
    """List affiliates, newest first, each with their links."""
    query, organization_id = body.query(_QUERY), guards.organization_id()
    page = paging.wanted(query)
    with db.unit_of_work(organization_id):
        rows = affiliates.page(
            organization_id=organization_id,
            program_id=query["program_id"],
            after=page.after,
            limit=page.limit,
            skip=query["skip"],
        )
        links = affiliates.links(organization_id=organization_id, affiliate_ids=[row.id for row in rows])
    return paging.envelope(page, rows, lambda shown: [wire.record(row, links.get(row.id, [])) for row in shown])


@blueprint.get("/api/v1/affiliates/<affiliate_id>")
@guarded(_READ)
def get_affiliate(affiliate_id: str) -> Mapping[str, object]:
    """Show one affiliate."""
    wanted_id, organization_id = path.uuid(affiliate_id, "affiliate"), guards.organization_id()
    with db.unit_of_work(organization_id):
        affiliate = affiliates.find(organization_id=organization_id, affiliate_id=wanted_id)
        links = affiliates.links(organization_id=organization_id, affiliate_ids=[wanted_id])
    if affiliate is None:
        raise not_found("affiliate", wanted_id)
    return wire.record(affiliate, links.get(wanted_id, []))
