"""What the tests of conversion imports share."""

URL = "/api/v1/conversions/import"


def past_sale(**fields):
    """Return a row of Ben's; a field given as `...` is left out."""
    row = {
        "affiliateSlug": "ben",
        "amountCents": 10_000,
        "commissionCents": 2_000,
        "currency": "USD",
        "occurredAt": "2024-01-31T10:00:00Z",
    } | fields
    return {name: value for name, value in row.items() if value is not ...}


def import_sales(brand, *rows, url=URL, **fields):
    """Import rows into the brand's last program."""
    return brand.post(url, {"programId": str(brand.programs[-1]), "conversions": list(rows)} | fields)
