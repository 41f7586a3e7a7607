"""Failed webhook deliveries are inspected and resent in a real browser. Source: the interface of the pages."""

import json

from playwright.sync_api import expect

from tests.support.outside.receiver import status
from tests.support.pages.navigation import press


def test_failed_delivery_is_inspected_and_resent_live(window, link, brand, receiver, drain):
    receiver.answers = [status(503, b"<html>upstream timed out")]
    endpoint = brand.endpoint(receiver.url, ["conversion.created"])
    page = window()
    page.goto(link("owner"))
    page.goto("/dashboard/webhooks")
    press(page.get_by_role("link", name=receiver.url))
    page.get_by_label("Sample").select_option("conversion.created")
    press(page.get_by_role("button", name="Send a sample"))
    expect(page.get_by_text("No attempt has finished yet.")).to_be_visible()

    drain("webhooks")
    expect(page.get_by_role("table", name="Attempts")).to_contain_text("503")  # without a reload
    expect(page.get_by_role("table", name="Attempts")).to_contain_text("<html>upstream timed out")
    expect(page.get_by_role("heading", name="Payload")).to_be_visible()
    assert json.loads(page.get_by_role("region", name="Payload").inner_text()) == receiver.received[0].event

    _exhaust_attempts(brand)
    receiver.answers = [status(200)]
    page.goto(f"/dashboard/webhooks/{endpoint['id']}?status=Failed")
    press(page.get_by_role("table", name="Deliveries").get_by_role("link", name="conversion.created").first)
    press(page.get_by_role("button", name="Redeliver"))
    expect(page.locator(".chip", has_text="Pending")).to_be_visible()
    drain("webhooks")

    expect(page.locator(".chip", has_text="Delivered")).to_be_visible()  # without a reload
    accepted_attempt = page.get_by_role("row").filter(has=page.get_by_role("cell", name="200", exact=True))
    expect(accepted_attempt).to_have_count(1)  # the duration in ms may contain 200 too
    assert receiver.received[0].body == receiver.received[-1].body


def _exhaust_attempts(brand):
    """Mark all deliveries as failed, with no attempt left."""
    brand.rows("update delivery set status = 'Failed', settled_at = now(), next_attempt_at = null returning id")
    brand.rows("delete from job where name = 'webhook.deliver' returning id")


def test_new_endpoint_shows_its_secret_and_replays_failures(window, link, brand, receiver, drain):
    page = window()
    page.goto(link("owner"))
    page.goto("/dashboard/webhooks")
    page.get_by_label("URL").fill(receiver.url)
    press(page.get_by_role("button", name="Create endpoint"))
    assert page.get_by_role("textbox", name="Secret").input_value().startswith("whsec_")
    press(page.get_by_role("link", name="Go to the endpoint"))
    press(page.get_by_role("button", name="Send a sample"))
    drain("webhooks")
    _exhaust_attempts(brand)
    page.goto(page.url.partition("/deliveries/")[0])

    press(page.get_by_role("button", name="Redeliver all failed"))
    expect(page.get_by_text("1 delivery is being resent.")).to_be_visible()
    drain("webhooks")

    expect(page.get_by_role("table", name="Deliveries").locator(".chip", has_text="Delivered")).to_be_visible()
    assert len(receiver.received) == 2
