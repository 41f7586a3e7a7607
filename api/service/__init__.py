"""The service itself.

health        liveness, readiness and metrics
tls           the check whether a host may get a certificate
description   OpenAPI, the pages at /docs, the manifest for machines
"""

from api.service import description, health, tls

BLUEPRINTS = (
    health.blueprint,
    tls.blueprint,
    description.blueprint,
)
