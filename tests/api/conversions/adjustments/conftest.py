"""Fixtures of adjustment tests: a brand that pays its affiliates; the ledger is checked after each test."""

import pytest

from models import db
from models.ledger import rules
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    """Yield a brand with the payable affiliates ann and ben at 20 %; then check the ledger."""
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.affiliate("ben")
    yield payroll
    with db.unit_of_work(payroll.brand.id):
        assert rules.find_exceptions(payroll.brand.id, limit=5) == []


@pytest.fixture
def campaign(payroll):
    """Return the payroll's brand."""
    return payroll.brand
