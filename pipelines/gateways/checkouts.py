"""What a store's web pixel tells of checkouts, which an order then says it came from.

The browser says it, so it is a claim as every carrier is: it credits an order that nothing else credits. A checkout's
token is its buyer's and the store's; nobody can claim another's order by guessing. It may be told after the order.
"""

from datetime import datetime

from domain import jobs
from domain.gateways.names import Gateway
from models import advisory_locks
from models.clicks.public_links import Link
from models.gateways import inbox, pixel_checkouts
from models.gateways.pixel_checkouts import CheckoutClaim
from pipelines import work
from pipelines.gateways.booking import origins


def take(link: Link, *, token: str, sub_id: str | None, now: datetime) -> None:
    """Keep by which link the browser of a checkout had come; an order of it that is booked already is looked at again.

    Budget: 1 round trip, and one more statement where its order waits for it.
    """
    name = origins.checkout_name(token)
    advisory_locks.stage_gateway_names_lock(
        organization_id=link.organization_id, gateway=Gateway.Shopify.value, names=[name]
    )
    event_id = pixel_checkouts.store(
        organization_id=link.organization_id, token=token, claim=CheckoutClaim(link.slug, sub_id), at=now
    )
    if event_id is not None:
        inbox.stage_retry(organization_id=link.organization_id, event_ids=[event_id])
        work.enqueue(jobs.GATEWAY_EVENT, organization_id=link.organization_id, event_id=event_id)
