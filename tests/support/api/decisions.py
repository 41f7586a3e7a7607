"""Decisions of a brand about a conversion: its status, refunds by its members, an adjusted commission."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

_CONVERSIONS = "/api/v1/conversions"
ROUTES = {
    "validate": "/api/v1/conversions/{}/validate",
    "invalidate": "/api/v1/conversions/{}/invalidate",
    "approve": "/api/conversions/{}/approve",
    "deny": "/api/conversions/{}/deny",
}


def post_action(caller, action, conversion_id, body=None, **headers):
    """Post an action on a conversion: validate, invalidate, approve or deny."""
    return caller.post(ROUTES[action].format(conversion_id), body, **headers)


def refund_by_id(caller: Brand, conversion_id: UUID | str, reason: str = "refunded", **body: Any) -> TestResponse:
    """Post a refund of a conversion by its id."""
    return caller.post(f"{_CONVERSIONS}/{conversion_id}/refund", {"reason": reason} | body)


def undo_refund(caller: Brand, conversion_id: UUID | str) -> TestResponse:
    """Undo the brand's refunds of a conversion."""
    return caller.post(f"{_CONVERSIONS}/{conversion_id}/refund/restore")


def adjust_commission(
    caller: Brand, conversion_id: UUID | str, cents: Any, reason: str = "mistake", **body: Any
) -> TestResponse:
    """Adjust the commission of a conversion."""
    return caller.post(f"{_CONVERSIONS}/{conversion_id}/adjust", {"commissionCents": cents, "reason": reason} | body)


def read_refund_state(brand: Brand, conversion_id: UUID | str) -> tuple[int, int, str]:
    """Return a conversion's refunded cents, the cents that its affiliate still earns, and its status."""
    (row,) = brand.rows(
        "select refunded_cents, commission_cents - reversed_cents, status from conversion where id = %s", conversion_id
    )
    return row


def _create_conversion(owner: Brand, status: str = "Pending") -> str:
    owner.program()
    return str(insert_conversion(owner, owner.affiliate("ben"), status=status))


def _create_refunded_conversion(owner: Brand) -> str:
    conversion_id = _create_conversion(owner)
    assert owner.post(f"{_CONVERSIONS}/{conversion_id}/refund", {"reason": "other"}).status_code == 200
    return conversion_id


#: A valid call, as its path and body, of each route with which a brand decides about a conversion.
CALLS: Mapping[str, Callable[[Brand], tuple[str, Any]]] = {
    f"POST {_CONVERSIONS}/<conversion_id>/validate": lambda owner: (
        f"{_CONVERSIONS}/{_create_conversion(owner, 'Invalidated')}/validate",
        None,
    ),
    f"POST {_CONVERSIONS}/<conversion_id>/invalidate": lambda owner: (
        f"{_CONVERSIONS}/{_create_conversion(owner)}/invalidate",
        None,
    ),
    f"POST {_CONVERSIONS}/<conversion_id>/refund": lambda owner: (
        f"{_CONVERSIONS}/{_create_conversion(owner)}/refund",
        {"reason": "chargeback", "amountCents": 1},
    ),
    f"POST {_CONVERSIONS}/<conversion_id>/refund/restore": lambda owner: (
        f"{_CONVERSIONS}/{_create_refunded_conversion(owner)}/refund/restore",
        None,
    ),
    f"POST {_CONVERSIONS}/<conversion_id>/adjust": lambda owner: (
        f"{_CONVERSIONS}/{_create_conversion(owner)}/adjust",
        {"reason": "mistake", "commissionCents": 1},
    ),
    "POST /api/conversions/<conversion_id>/approve": lambda owner: (
        f"/api/conversions/{_create_conversion(owner)}/approve",
        None,
    ),
    "POST /api/conversions/<conversion_id>/deny": lambda owner: (
        f"/api/conversions/{_create_conversion(owner)}/deny",
        {},
    ),
}
