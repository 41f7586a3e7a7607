"""Stored reference rates: native major units per 1 USD, by the day they were published. The same for every tenant."""

from decimal import Decimal

from models.db import db


def newest(currency: str) -> Decimal | None:
    """Return the currency's newest rate, or None when none is stored."""
    row = db.row("select per_usd from fx_rate where currency = %s order by published_on desc limit 1", (currency,))
    return row[0] if row else None
