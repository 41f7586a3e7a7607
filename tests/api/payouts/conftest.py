"""Fixtures of the tests in this folder."""

import pytest

from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    return Payroll.create(app)


@pytest.fixture
def due_payroll(payroll):
    """Return a payroll in which ann is owed 20.00 USD."""
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    return payroll
