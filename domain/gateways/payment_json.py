"""A payment as JSON, in which it is stored until more is known of its buyer."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from domain.gateways.facts import BuyerOrigin, Carrier, PaymentFact, RedeemedCode
from domain.text import stored


def to_json(paid: PaymentFact) -> dict[str, Any]:
    """Return a payment as JSON has it."""
    told_at = paid.told_at.isoformat() if paid.told_at else None
    return asdict(paid) | {"paid_at": paid.paid_at.isoformat(), "told_at": told_at}


def from_json(payment: Mapping[str, Any]) -> PaymentFact:
    """Return the payment that `to_json` returned."""
    origin = payment["origin"]
    carriers = tuple(stored.read(Carrier, carrier) for carrier in origin["carriers"])
    codes = tuple(stored.read(RedeemedCode, code) for code in origin["codes"])
    values = {
        **payment,
        "paid_at": datetime.fromisoformat(payment["paid_at"]),
        "told_at": datetime.fromisoformat(payment["told_at"]) if payment.get("told_at") else None,
        "aliases": tuple(payment["aliases"]),
        "origin": stored.read(BuyerOrigin, {**origin, "carriers": carriers, "codes": codes}),
    }
    return stored.read(PaymentFact, values)
