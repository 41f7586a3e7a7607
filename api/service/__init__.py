"""The service itself.

health        alive, ready, and the numbers
tls           whether a host may have a certificate
description   OpenAPI, the pages at /docs, the manifest for machines
"""

from api.service import description, health, tls

BLUEPRINTS = (
    health.blueprint,
    tls.blueprint,
    description.blueprint,
)
