"""Members of a brand that may pay, on its pages."""

import pytest

from tests.support.outside.visitor import Visitor
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    """A brand that may pay."""
    return Payroll.create(app)


@pytest.fixture
def sign_in(app, flask, payroll):
    """Return a function that signs a member of that brand in and returns the browser: `sign_in("Viewer")`."""

    def sign_in_member(role="Owner", visitor=None):
        browser = visitor or Visitor(app)
        email = f"{role.lower()}@example.com"
        browser.open(flask.json("sign-in", "owner", "--org", payroll.brand.id, "--role", role, "--email", email)["url"])
        return browser

    return sign_in_member
