"""What the tests of adjustments share: a brand that pays its affiliates, whose money must add up in the end."""

import pytest

from models import db
from models.ledger import rules
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    """Return a brand with ann and ben, at 20 %, who can be paid."""
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.affiliate("ben")
    yield payroll
    with db.unit_of_work(payroll.brand.id):
        assert rules.find_exceptions(payroll.brand.id, limit=5) == []


@pytest.fixture
def campaign(payroll):
    """Return the brand itself."""
    return payroll.brand
