"""Checkouts reported by a store's web pixel: the link that the browser came through, and no amounts.

Source: tracking spec, "Attribution method taxonomy" (the store's web pixel click).
"""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.access.guards import Guard
from api.clicks import visits
from api.edge import body
from api.edge.operations import object_of, operation
from domain.clicks import subid
from models import db
from pipelines.clicks.public_links import SlugAddress
from pipelines.gateways import checkouts
from schemas.clicks.store_checkout import StoreCheckoutAnswer, StoreCheckoutBody

blueprint = Blueprint("store_checkout", __name__)

_MAX_BYTES = 4 * 1024
_PUBLIC = Guard(audience="public", bucket=visits.BUCKET, open_cors=True, max_body_bytes=_MAX_BYTES)
_ANSWER = StoreCheckoutAnswer()


@blueprint.post("/api/v1/track/checkout")
@operation(_PUBLIC, object_of(_ANSWER), takes=StoreCheckoutBody(), takes_as=("text/plain",))
def record_store_checkout() -> Mapping[str, object]:
    """Record the link that the browser of a store's checkout came through, for an order that nothing else credits.

    For the store's web pixel. 200 with `{ok}` for any key and slug.
    Budget: 2 statements, 1 for a cached link, none for an unknown key.
    """
    checkout = body.load()
    link = visits.find(SlugAddress(checkout["slug"], pixel_key=checkout["pixel_key"]))
    if link is not None:
        with db.unit_of_work(link.organization_id):
            checkouts.store_claim(
                link, token=checkout["checkout_token"], sub_id=subid.normalize(checkout["sub_id"]), now=clock.now()
            )
    return _ANSWER.dump({"ok": True})
