"""The JSON form of a payment, stored until more is known of its buyer."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from domain.gateways.facts import BuyerOrigin, Carrier, PaymentFact, RedeemedCode
from domain.text import stored_values


def serialize(payment: PaymentFact) -> dict[str, Any]:
    """Return a payment as JSON values."""
    told_at = payment.told_at.isoformat() if payment.told_at else None
    return asdict(payment) | {"paid_at": payment.paid_at.isoformat(), "told_at": told_at}


def parse(values: Mapping[str, Any]) -> PaymentFact:
    """Return the payment that `written` serialized."""
    origin = values["origin"]
    carriers = tuple(stored_values.read(Carrier, carrier) for carrier in origin["carriers"])
    codes = tuple(stored_values.read(RedeemedCode, code) for code in origin["codes"])
    fields = {
        **values,
        "paid_at": datetime.fromisoformat(values["paid_at"]),
        "told_at": datetime.fromisoformat(values["told_at"]) if values.get("told_at") else None,
        "aliases": tuple(values["aliases"]),
        "origin": stored_values.read(BuyerOrigin, {**origin, "carriers": carriers, "codes": codes}),
    }
    return stored_values.read(PaymentFact, fields)
