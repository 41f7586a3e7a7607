"""Requests that import conversions and affiliates."""

from collections.abc import Iterator
from contextlib import contextmanager

from models import advisory_locks, db
from tests.support.rows.brands import Brand

URL = "/api/v1/conversions/import"
AFFILIATES = "/api/v1/affiliates"
AFFILIATES_IMPORT = f"{AFFILIATES}/import"


def build_past_sale(**fields):
    """Return a row of a past sale through ben; a field given as `...` is left out."""
    row = {
        "affiliateSlug": "ben",
        "amountCents": 10_000,
        "commissionCents": 2_000,
        "currency": "USD",
        "occurredAt": "2024-01-31T10:00:00Z",
    } | fields
    return {name: value for name, value in row.items() if value is not ...}


def import_sales(brand, *rows, url=URL, **fields):
    """Import sales into the brand's last program."""
    return brand.post(url, {"programId": str(brand.programs[-1]), "conversions": list(rows)} | fields)


def import_people(brand, *rows, **fields):
    """Import affiliates into the brand's last program."""
    return brand.post(AFFILIATES_IMPORT, {"programId": str(brand.programs[-1]), "affiliates": list(rows)} | fields)


@contextmanager
def hold_import_lock(brand: Brand) -> Iterator[None]:
    """Hold the organization's import lock while the block runs."""
    with db.unit_of_work(brand.id):
        assert advisory_locks.try_import_lock(brand.id)
        yield


def build_person_row(name, **fields):
    """Return a row of an affiliate whom the brand does not have yet."""
    return {"email": f"{name}@example.com"} | fields
