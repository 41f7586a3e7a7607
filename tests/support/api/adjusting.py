"""A brand whose people refund conversions, undo that, and change commissions; its money must add up in the end."""

from typing import Any
from uuid import UUID

from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand

_URL = "/api/v1/conversions"


def refund_by_id(caller: Brand, conversion_id: UUID | str, reason: str = "refunded", **body: Any) -> TestResponse:
    """Post a refund of a conversion by its id."""
    return caller.post(f"{_URL}/{conversion_id}/refund", {"reason": reason} | body)


def undo_refund(caller: Brand, conversion_id: UUID | str) -> TestResponse:
    """Post that the brand's refunds of a conversion are undone."""
    return caller.post(f"{_URL}/{conversion_id}/refund/restore")


def adjust(caller: Brand, conversion_id: UUID | str, cents: Any, reason: str = "mistake", **body: Any) -> TestResponse:
    """Post another commission of a conversion."""
    return caller.post(f"{_URL}/{conversion_id}/adjust", {"commissionCents": cents, "reason": reason} | body)


def money(brand: Brand, conversion_id: UUID | str) -> tuple[int, int, str]:
    """Return what is refunded of a conversion, what its affiliate still earns, and its status."""
    (row,) = brand.rows(
        "select refunded_cents, commission_cents - reversed_cents, status from conversion where id = %s", conversion_id
    )
    return row
