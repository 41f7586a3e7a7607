"""Webhooks at the dashboard: the brand's endpoints and their deliveries.

endpoints   all endpoints, and a new one
endpoint    one endpoint: its deliveries, changes, a sample event, a new secret, redelivery, its end
delivery    one delivery: the request, and the result of each attempt
"""

from pages.brand.webhooks import delivery, endpoint, endpoints

BLUEPRINTS = (endpoints.blueprint, endpoint.blueprint, delivery.blueprint)
