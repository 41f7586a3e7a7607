"""From a listed program to an affiliate of the network. Source: core spec, rule 5 of programs."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.operators import Operator
from tests.support.pages.navigation import press


@pytest.fixture
def listed_program(payroll):
    """Return a brand, and the id and name of a program that it lists, in a currency that other tests do not use."""
    brand, name = payroll.brand, f"Tea {payroll.brand.id.hex}"
    brand.set(bankBalanceCents="1", currency="MOP")
    return brand, brand.program(network_visibility="Networked", name=name, category="Food"), name


@pytest.fixture
def enter_as(app):
    """Return a function that signs a page in by a link of `flask sign-in`."""

    def sign_in(page, *words):
        page.goto(Operator(app).json("sign-in", *words)["url"])
        return page

    return sign_in


def test_listed_program_takes_applications_while_the_plan_allows(enter_as, window, enter, email, listed_program):
    brand, program_id, name = listed_program
    operator = enter_as(window(), "operator")
    operator.goto(f"/console/network/{program_id}")
    press(operator.get_by_role("button", name=f"Approve {name}"))
    expect(operator.get_by_role("heading", level=1)).to_have_text("Network")

    ada = enter_as(window(java_script_enabled=False), "affiliate", "--email", email)
    press(ada.get_by_role("navigation", name="Portal").get_by_role("link", name="Discover"))
    ada.get_by_role("textbox", name="Currency").fill("mop")
    ada.get_by_role("combobox", name="Category").select_option("Food")
    press(ada.get_by_role("button", name="Filter"))
    press(ada.get_by_role("table", name="Programs in the network").get_by_role("link", name=name))
    ada.get_by_role("textbox", name="Your name").fill("Ada Ek")
    press(ada.get_by_role("button", name=f"Apply to {name}"))
    expect(ada.get_by_role("heading", name="You have applied")).to_be_visible()

    manager = enter(window(), "Manager", "manager@example.com")
    manager.goto("/dashboard/affiliates/applications")
    press(manager.get_by_role("button", name="Approve Ada Ek"))
    expect(manager.get_by_role("row", name="Ada Ek")).to_have_count(0)
    ada.goto("/portal/programs")
    expect(ada.get_by_role("row", name=re.compile(name))).to_contain_text("Approved")

    for status, number in (("Canceled", 0), ("Active", 1)):
        brand.set(status=status)
        ada.goto("/portal/discover?currency=MOP")
        expect(ada.get_by_role("link", name=name)).to_have_count(number)
