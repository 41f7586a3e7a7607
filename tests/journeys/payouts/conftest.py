"""Fixtures of the tests in this folder."""

import pytest

from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    made = Payroll.create(app)
    made.affiliate("ann")
    return made
