"""Past conversions, clicks and exchange rates, inserted directly into the database."""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any
from uuid import UUID

from models import db
from models.conversions import conversions
from tests.support.rows.brands import Brand
from tests.support.running import row_ids
from tests.support.running.hours import start_of_test

_NUMBERS = count(1)


def time_ago(**span: float) -> datetime:
    """Return the time that long before the test began."""
    return start_of_test() - timedelta(**span)


def insert_conversion(brand: Brand, affiliate_id: UUID, **columns: Any) -> UUID:
    """Insert a Pending, held sale of yesterday that earned 1000 USD cents; `columns` override the defaults."""
    conversion_id = row_ids.new_id()
    values: dict[str, Any] = {
        "id": conversion_id,
        "organization_id": brand.id,
        "program_id": brand.programs[-1],
        "affiliate_id": affiliate_id,
        "source": "s2s",
        "external_event_id": f"row-{next(_NUMBERS)}",
        "amount_cents": 10_000,
        "currency": "USD",
        "commission_cents": 1_000,
        "status": "Pending",
        "type": "OneTime",
        "rate_source": "program",
        "rate_type": "Percentage",
        "rate_value": Decimal(10),
        "is_test": False,
        "occurred_at": time_ago(days=1),
        "hold_until": start_of_test() + timedelta(days=29),
        "created_at": start_of_test(),
    }
    with db.unit_of_work(brand.id):
        conversions.stage_insert([conversions.Conversion(**values | columns)])
    return conversion_id


def insert_click(brand: Brand, affiliate_id: UUID, **columns: Any) -> UUID:
    """Insert a click of an hour ago; `columns` override the defaults."""
    click_id = row_ids.new_id()
    values: dict[str, Any] = {
        "id": click_id,
        "organization_id": brand.id,
        "program_id": brand.programs[-1],
        "affiliate_id": affiliate_id,
        "slug": "ben",
        "occurred_at": time_ago(hours=1),
        "created_at": start_of_test(),
    }
    with db.unit_of_work(brand.id):
        names, placeholders = ", ".join(values | columns), ", ".join(["%s"] * len(values | columns))
        db.db.stage(f"insert into click ({names}) values ({placeholders})", tuple((values | columns).values()))
    return click_id


def store_rate(currency: str, per_usd: str, published: datetime) -> None:
    """Store an exchange rate, which all tests see: use a currency or a year that no other test uses."""
    with db.any_org_work():
        db.db.stage(
            "insert into fx_rate (currency, published_on, per_usd) values (%s, %s, %s)"
            " on conflict (currency, published_on) do update set per_usd = excluded.per_usd",
            (currency, published.date(), per_usd),
        )
