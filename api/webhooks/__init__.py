"""Webhook endpoints and their deliveries.

endpoints    the URLs that receive the brand's events
deliveries   the deliveries to them, and redelivery
"""

from api.webhooks import deliveries, endpoints

BLUEPRINTS = (
    endpoints.blueprint,
    deliveries.blueprint,
)
