"""Decisions about conversions at the dashboard: which a conversion allows, and their operations."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.conversions.decisions import approve_conversion, deny_conversion, invalidate_conversion, validate_conversion
from domain.statuses import ConversionStatus
from pages import api_client

#: The operations by the `action` that a form sends.
OPERATIONS: Mapping[str, api_client.View] = {
    "approve": approve_conversion,
    "validate": validate_conversion,
    "invalidate": invalidate_conversion,
    "deny": deny_conversion,
}
# Possible decisions by status, the mildest first.
_BY_STATUS: Mapping[str, Sequence[str]] = {
    ConversionStatus.Pending: ("approve", "invalidate", "deny"),
    ConversionStatus.Approved: ("invalidate", "deny"),
    ConversionStatus.Invalidated: ("validate",),
}


def list_decisions(conversion: Mapping[str, Any]) -> list[str]:
    """Return the decisions that the signed-in person may make about a conversion: locked history cannot be approved."""
    return [
        name
        for name in _BY_STATUS.get(conversion["status"], ())
        if api_client.is_allowed(OPERATIONS[name]) and not (name == "approve" and conversion["locked"])
    ]
