"""What the web pixel of a store tells of a checkout: that its browser had come by a link. Nothing of money.

Source: tracking spec, "Attribution method taxonomy" (the store's web pixel click).
"""

from collections.abc import Mapping

from flask import Blueprint

from adapters import clock
from api.access.guards import Guard
from api.clicks import visits
from api.edge import body
from api.edge.operations import one, operation
from domain.clicks import subid
from models import db
from pipelines.clicks.public_links import SlugAddress
from pipelines.gateways import checkouts
from schemas.clicks.store_checkout import StoreCheckoutAnswer, StoreCheckoutBody

blueprint = Blueprint("store_checkout", __name__)

_MOST_BYTES = 4 * 1024
_PUBLIC = Guard(audience="public", bucket=visits.BUCKET, open_cors=True, max_body_bytes=_MOST_BYTES)
_ANSWER = StoreCheckoutAnswer()


@blueprint.post("/api/v1/track/checkout")
@operation(_PUBLIC, one(_ANSWER), takes=StoreCheckoutBody(), takes_as=("text/plain",))
def record_store_checkout() -> Mapping[str, object]:
    """Record by which link the browser of a store's checkout had come, for an order that nothing else credits.

    For the store's web pixel. 200 with `{ok}` whatever is known of the key and the slug.
    Budget: 2 statements, 1 for a link that this process was asked for lately, none for a key that nobody has.
    """
    sent = body.load()
    link = visits.find(SlugAddress(sent["slug"], pixel_key=sent["pixel_key"]))
    if link is not None:
        with db.unit_of_work(link.organization_id):
            checkouts.store_claim(
                link, token=sent["checkout_token"], sub_id=subid.normalize(sent["sub_id"]), now=clock.now()
            )
    answer: Mapping[str, object] = _ANSWER.dump({"ok": True})
    return answer
