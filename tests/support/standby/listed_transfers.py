"""Transfers as a rail lists them after a restore."""

from typing import Any
from uuid import uuid4

from adapters import clock
from tests.support.rows.paying import Payroll


def listed_transfer(payroll: Payroll, slug: str = "ann", *, amount: str = "20.00", **more: Any) -> dict[str, Any]:
    """Return a transfer that a forgotten payout has made, as its rail lists it."""
    payout_id = uuid4()
    return {
        "reference": f"tr_{payout_id.hex}",
        "amount": amount,
        "paid_at": clock.now().isoformat(),
        "key": f"payout:{payout_id}:1",
        "organization_id": str(payroll.brand.id),
        "affiliate_id": str(payroll.affiliates[slug]),
        "account": f"acct_{slug}",
    } | more
