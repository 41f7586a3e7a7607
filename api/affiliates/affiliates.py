"""Records of affiliates, for the brand. Decisions about them are in `decisions`.

Source: core spec, "Affiliates".
"""

import functools
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.affiliates import filters, serializers
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import array, object_of, operation, page
from domain.affiliates import orders
from domain.organization import plans
from domain.organization.access import Role
from models import db
from models.affiliates.affiliates import Affiliate
from models.affiliates.listing import lists
from pipelines.affiliates import enrollment, management
from schemas.affiliates.affiliate import (
    RATE_REFUSALS,
    AffiliateBody,
    AffiliateChanges,
    AffiliateQuery,
    AffiliateRecord,
    AffiliatesQuery,
    ApplicationsQuery,
    with_stored_type,
)

blueprint = Blueprint("affiliates", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
_RECORD = AffiliateRecord()


@blueprint.post("/api/v1/affiliates")
@operation(
    _WRITE,
    object_of(_RECORD),
    status=201,
    takes=AffiliateBody(),
    refuses=(
        "400 slug_reserved",
        "404 not_found",
        "409 affiliate_already_exists",
        "409 alias_already_taken",
        *RATE_REFUSALS,
    ),
)
def create_affiliate() -> Response:
    """Create an affiliate with a default link. 201 with both."""
    requested = body.load()
    return idempotency.run_once(lambda: _create(requested), wakes_relay=True)


def _create(requested: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now, caller = clock.now(), guards.caller()
    joined = enrollment.create(organization_id=caller.organization_id, body=requested, is_test=caller.is_test, now=now)
    after = serializers.serialize_for_audit(joined.affiliate, joined.links)
    audit.record("affiliate.created", joined.affiliate.id, after=after, now=now)
    return 201, serializers.serialize(joined.affiliate, joined.links)


@blueprint.get("/api/v1/affiliates")
@operation(_READ, page(_RECORD), asks=AffiliatesQuery(), may_lag="answer")
def list_affiliates() -> Mapping[str, object]:
    """List affiliates, newest first unless `sort` says otherwise, each with their links.

    One round trip for any number; one more each with `balances` and `totals`, and if a link is not short.
    """
    query, organization_id = body.query(), guards.organization_id()
    sort = query["sort"]
    page_request = paging.read_page_request(
        query, order=sort.removeprefix(orders.ALL[0]), is_by_number=sort in orders.OF_TOTALS
    )
    selection = lists.Selection(
        organization_id=organization_id,
        shape=serializers.document_shape(),
        base_url=serializers.base_url(),
        filters=filters.from_query(query),
        after=page_request.after,
        take=page_request.take,
        skip=query["skip"],
        order=sort,
    )
    with db.unit_of_work(organization_id):
        page = None if query["balances"] or query["totals"] else selection.page()
        if page is not None and page.documents is not None:
            return paging.serialize_rendered_page(page_request, page)
        as_of = clock.now() if query["balances"] else None
        render = functools.partial(serializers.serialize_rendered, balances_as_of=as_of, with_totals=query["totals"])
        return paging.serialize_page(page_request, selection.rows(), render, time_field="position")


@blueprint.get("/api/v1/affiliates/applications")
@operation(_READ, array(_RECORD), asks=ApplicationsQuery(), may_lag="answer")
def list_applications() -> list[Any]:
    """List pending applications, newest first, as a flat array."""
    query, organization_id = body.query(), guards.organization_id()
    with db.unit_of_work(organization_id):
        rows = lists.list_pending(
            organization_id=organization_id,
            program_id=query["program_id"],
            limit=min(query["take"] or paging.DEFAULT_TAKE, paging.MAX_TAKE),
            skip=query["skip"],
        )
        return serializers.serialize_all(rows)


@blueprint.get("/api/v1/affiliates/<affiliate_id>")
@operation(_READ, object_of(_RECORD), asks=AffiliateQuery(), refuses=("404 not_found",))
def get_affiliate(affiliate_id: str) -> Mapping[str, object]:
    """Show one affiliate with the tokens of a former system that lead to their links.

    With `totals` also what they brought in so far: one round trip more.
    """
    affiliate_uuid, with_totals = path.uuid(affiliate_id, "affiliate"), body.query()["totals"]
    with db.unit_of_work(guards.organization_id()):
        affiliate = management.find(organization_id=guards.organization_id(), affiliate_id=affiliate_uuid)
        links = serializers.list_links(affiliate_uuid)
        record = serializers.serialize(affiliate, links)
        if tokens := sorted(token for link in links for token in link.old_tokens):
            record["oldTokens"] = tokens
        if with_totals:
            record["totals"] = serializers.serialize_totals([record["id"]])[record["id"]]
    return record


@blueprint.patch("/api/v1/affiliates/<affiliate_id>")
@operation(_WRITE, object_of(_RECORD), takes=AffiliateChanges(), refuses=("404 not_found", *RATE_REFUSALS))
def change_affiliate(affiliate_id: str) -> Response:
    """Change an affiliate; fields that are not sent stay as they are. 200 with the affiliate."""
    affiliate_uuid = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        seen = management.find(organization_id=guards.organization_id(), affiliate_id=affiliate_uuid)
    changes = body.load()
    return idempotency.run_once(lambda: _change(seen, changes), wakes_relay=True)


def _change(seen: Affiliate, changes: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    before = management.lock_for_changes(affiliate=seen, changes=changes)
    changes = with_stored_type(changes, stored_type=before.custom_commission_type)
    links = serializers.list_links(seen.id)
    after = management.change(affiliate=before, changes=changes, now=now)
    serializers.record_change("affiliate.updated", before, after, links, now=now)
    return 200, serializers.serialize(after, links)
