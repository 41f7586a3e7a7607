"""The public storefront: the campaign of an address.

Source: tracking spec, "Public storefront".
"""

from collections.abc import Mapping

from flask import Blueprint

import settings
from api.access.guards import Guard
from api.edge import body
from api.edge.operations import object_of, operation
from models import db
from pipelines.storefront import lookup
from schemas.storefront.lookup import DomainQuery, StorefrontAddress, StorefrontProgram, landing_record

blueprint = Blueprint("storefront_lookup", __name__)

_LOOK = Guard(audience="public", bucket="anonymous")
_ADDRESS = StorefrontAddress()


@blueprint.get("/api/p/by-handle/<handle>")
@operation(_LOOK, object_of(StorefrontProgram()), refuses=("404 not_found",))
def get_main_storefront_campaign(handle: str) -> Mapping[str, object]:
    """Show the main campaign behind a branded subdomain: the primary one, else the oldest open one."""
    return _campaign_record(handle, None)


@blueprint.get("/api/p/by-handle/<handle>/<campaign>")
@operation(_LOOK, object_of(StorefrontProgram()), refuses=("404 not_found",))
def get_storefront_campaign(handle: str, campaign: str) -> Mapping[str, object]:
    """Show a campaign by subdomain and slug; for a former slug, return the current one."""
    return _campaign_record(handle, campaign)


@blueprint.get("/api/p/by-domain")
@operation(_LOOK, object_of(_ADDRESS), asks=DomainQuery(), refuses=("404 not_found",))
def get_storefront_address() -> Mapping[str, object]:
    """Return the subdomain and campaign of a verified custom domain."""
    host = body.query()["host"]
    with db.any_org_work():
        address = lookup.any_org_find_by_domain(host)
    return _ADDRESS.dump(address)


def _campaign_record(handle: str, campaign: str | None) -> Mapping[str, object]:
    with db.any_org_work():
        result = lookup.any_org_find_landing(handle=handle, campaign=campaign)
    if result.is_renamed:
        return {"redirect": True, "campaign": result.landing.slug}
    return landing_record(result.landing, base_url=settings.current().web.url)
