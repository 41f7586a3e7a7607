"""Stores which link a checkout came by, as a store's web pixel reports it. The order names its checkout later.

The browser reports it, so it is a claim like every carrier: it credits an order that nothing else credits. Only the
buyer and the store know a checkout's token, so no one can claim another order by guessing. The report may arrive after
the order.
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


def store_claim(link: Link, *, token: str, sub_id: str | None, now: datetime) -> None:
    """Store the link that the browser of a checkout came by; an order that is already booked is processed again.

    Budget: 1 round trip, and one more statement where its order waits for the report.
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
