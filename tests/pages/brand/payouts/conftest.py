"""Brands' people at the pages of a brand that pays."""

import pytest

from tests.support.outside.visitor import Visitor
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    """A brand that may pay."""
    return Payroll.create(app)


@pytest.fixture
def sign_in(app, flask, payroll):
    """What signs somebody of that brand in: a browser for `sign_in()`, `sign_in("Viewer")`."""

    def go(role="Owner", visitor=None):
        found = visitor or Visitor(app)
        email = f"{role.lower()}@example.com"
        found.open(flask.json("sign-in", "owner", "--org", payroll.brand.id, "--role", role, "--email", email)["url"])
        return found

    return go
