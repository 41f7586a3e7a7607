"""The service itself.

front_page    what the bare address says
health        alive, ready, and the numbers
description   OpenAPI, the pages at /docs, the manifest for machines
"""

from api.service import description, front_page, health

BLUEPRINTS = (
    front_page.blueprint,
    health.blueprint,
    description.blueprint,
)
