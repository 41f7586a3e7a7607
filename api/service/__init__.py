"""The service itself.

health        alive, ready, and the numbers
description   OpenAPI, the pages at /docs, the manifest for machines
"""

from api.service import description, health

BLUEPRINTS = (
    health.blueprint,
    description.blueprint,
)
