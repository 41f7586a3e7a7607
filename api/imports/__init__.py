"""Imports from another service.

affiliates    affiliates
conversions   conversions
history       past imports, and undoing one
"""

from api.imports import affiliates, conversions, history

BLUEPRINTS = (
    affiliates.blueprint,
    conversions.blueprint,
    history.blueprint,
)
