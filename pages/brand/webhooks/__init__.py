"""Webhooks at the dashboard: where the brand is told what happens, and how that went.

endpoints   all endpoints, and a new one
endpoint    one endpoint: what it was told, changes, a sample, a new secret, sending again, its end
delivery    one delivery: what was sent, and what each attempt met
"""

from pages.brand.webhooks import delivery, endpoint, endpoints

BLUEPRINTS = (endpoints.blueprint, endpoint.blueprint, delivery.blueprint)
