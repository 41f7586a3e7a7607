"""Rows of affiliates."""

from datetime import UTC, datetime
from uuid import uuid4

from models import db
from models.affiliates import affiliates
from models.affiliates.affiliates import Affiliate

_NOW = datetime(2030, 1, 2, tzinfo=UTC)


def test_affiliate_defaults_are_equal_in_the_class_and_the_table(brand):
    values = {
        "id": uuid4(),
        "organization_id": brand.id,
        "program_id": brand.program(),
        "email": "ann@example.com",
        "email_normalized": "ann@example.com",
        "status": "Pending",
        "source": "Public",
        "applied_at": _NOW,
        "created_at": _NOW,
    }

    with db.unit_of_work(brand.id):
        inserted = affiliates.insert(values)

    assert inserted == Affiliate(**values)
