"""The past from another service.

affiliates    who they were
conversions   what they earned, and a look at it first
history       what was imported, and taking it back
"""

from api.imports import affiliates, conversions, history

BLUEPRINTS = (
    affiliates.blueprint,
    conversions.blueprint,
    history.blueprint,
)
