"""A payout run and a resent delivery on a narrow screen. Source: the pages' journeys, 11; WCAG 1.4.10."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.outside.receiver import status
from tests.support.pages.navigation import press

# At a zoom of 200 % a window of 1280 by 800 has half of each.
_VIEWPORTS = {
    "320 px": {"viewport": {"width": 320, "height": 640}},
    "200 %": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
}


@pytest.fixture(params=_VIEWPORTS.values(), ids=_VIEWPORTS)
def narrow(request, window, enter):
    """Return the Owner's narrow window; its `assert_fits` checks after each step that nothing overflows."""
    page = enter(window(**request.param))
    width = request.param["viewport"]["width"]

    def assert_fits():
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url

    page.assert_fits = assert_fits
    return page


def test_payout_run_is_confirmed_and_paid_on_a_narrow_screen(narrow, payroll):
    for slug in ("ann", "ben"):
        payroll.affiliate(slug)
        payroll.sell(slug, 10_000)
    narrow.goto("/dashboard/payouts")
    press(narrow.get_by_role("link", name="New run"))
    expect(narrow.get_by_role("main")).to_contain_text("40.00 USD")
    narrow.assert_fits()
    press(narrow.get_by_role("link", name="Continue"))
    narrow.get_by_role("textbox", name="Type the total in USD").fill("41")
    press(narrow.get_by_role("button", name="Pay 2 affiliates"))
    expect(narrow.get_by_role("alert")).to_be_in_viewport()
    narrow.assert_fits()
    narrow.get_by_role("textbox", name="Type the total in USD").fill("40.00 USD")
    press(narrow.get_by_role("button", name="Pay 2 affiliates"))
    expect(narrow).to_have_url(re.compile("/dashboard/payouts/runs/"))
    payroll.pay()

    expect(narrow.get_by_text("2 of 2 paid")).to_be_visible()
    expect(narrow.get_by_role("table", name="Payouts").get_by_role("row", name="Ann")).to_contain_text("Paid")
    narrow.assert_fits()


def test_webhook_delivery_is_resent_on_a_narrow_screen(narrow, payroll, receiver, drain):
    brand = payroll.brand
    receiver.answers = [status(503, b"<html>upstream timed out")]
    endpoint = brand.endpoint(receiver.url, ["conversion.created"])
    payroll.affiliate("ann")
    payroll.sell("ann")
    drain("webhooks")
    brand.rows("update delivery set status = 'Failed', settled_at = now(), next_attempt_at = null returning id")
    brand.rows("delete from job where name = 'webhook.deliver' returning id")
    receiver.answers = [status(200)]
    narrow.goto(f"/dashboard/webhooks/{endpoint['id']}")
    narrow.assert_fits()
    press(narrow.get_by_role("table", name="Deliveries").get_by_role("link", name="conversion.created"))
    expect(narrow.get_by_role("table", name="Attempts")).to_contain_text("503")
    narrow.assert_fits()
    press(narrow.get_by_role("button", name="Redeliver"))
    drain("webhooks")

    expect(narrow.get_by_text("Delivered", exact=True)).to_be_visible()
    narrow.assert_fits()
