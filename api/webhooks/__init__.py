"""Webhook endpoints and what they were told.

endpoints    where the brand is told what happens
deliveries   how that went, and sending again
named        the endpoint that an address names
"""

from api.webhooks import deliveries, endpoints

BLUEPRINTS = (
    endpoints.blueprint,
    deliveries.blueprint,
)
