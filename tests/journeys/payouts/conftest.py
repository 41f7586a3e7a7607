"""Fixtures of the tests in this folder."""

import pytest

from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    new_payroll = Payroll.create(app)
    new_payroll.affiliate("ann")
    return new_payroll
