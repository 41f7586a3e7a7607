"""Whole ways through the service, each person in a window of their own."""

import re
from uuid import uuid4

import pytest

from tests.support.operators import Operator
from tests.support.rows.payroll import Payroll
from tests.support.settings_overrides import override_settings


@pytest.fixture
def email():
    """An address that nobody else has."""
    return f"ada-{uuid4().hex}@example.com"


@pytest.fixture
def payroll(app, site, monkeypatch):
    """A brand that may pay; the service is where its settings say."""
    override_settings(monkeypatch, web={"public_base_url": site})
    return Payroll.create(app)


@pytest.fixture
def enter(app, payroll):
    """What signs a page in as somebody of the brand, by a link from the shell."""

    def go(page, role="Owner", email="owner@example.com"):
        words = ("owner", "--org", payroll.brand.id, "--role", role, "--email", email)
        page.goto(Operator(app).json("sign-in", *words)["url"])
        return page

    return go


@pytest.fixture
def tab_to():
    """What goes on by Tab until something with this role and beginning of a name has the focus, seen at every stop."""

    def go(page, role, name, most=80):
        wanted = page.get_by_role(role, name=re.compile(f"^{re.escape(name)}\\b"))
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                continue  # past the end of the page, where the browser's own bar is
            stop = page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", stop
            if wanted.evaluate_all("all => all.includes(document.activeElement)"):
                return
        raise AssertionError(f"{role} {name} is not reached by keyboard")

    return go
