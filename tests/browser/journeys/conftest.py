"""Complete journeys through the service, each person in their own window."""

import re
from uuid import uuid4

import pytest

from tests.support.operators import Operator
from tests.support.rows.payroll import Payroll
from tests.support.settings_overrides import override_settings


@pytest.fixture
def email():
    """Return a unique email address."""
    return f"ada-{uuid4().hex}@example.com"


@pytest.fixture
def payroll(app, site, monkeypatch):
    """Return a brand that may pay; the settings contain the service's real address."""
    override_settings(monkeypatch, web={"public_base_url": site})
    return Payroll.create(app)


@pytest.fixture
def enter(app, payroll):
    """Return a function that signs a page in as a member of the brand, by a link of `flask sign-in`."""

    def sign_in(page, role="Owner", email="owner@example.com"):
        words = ("owner", "--org", payroll.brand.id, "--role", role, "--email", email)
        page.goto(Operator(app).json("sign-in", *words)["url"])
        return page

    return sign_in


@pytest.fixture
def tab_to():
    """Return a function that presses Tab until an element of this role and start of a name has the focus.

    It checks that the focus is visible at every stop.
    """

    def press_tab(page, role, name, max_stops=80):
        target = page.get_by_role(role, name=re.compile(f"^{re.escape(name)}\\b"))
        for _ in range(max_stops):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                continue  # past the end of the page, in the browser's own toolbar
            stop = page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", stop
            if target.evaluate_all("all => all.includes(document.activeElement)"):
                return
        raise AssertionError(f"{role} {name} is not reached by keyboard")

    return press_tab
