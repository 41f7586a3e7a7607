"""The bell in the bar of the dashboard, in a real browser."""

from uuid import uuid4

import pytest
from playwright.sync_api import expect

from models import db
from models.notifications.feed import NewNotice
from pipelines.notifications import notices
from tests.support.job_queues import drain


@pytest.mark.parametrize("width", [1280, 375, 320])
def test_bell_shows_the_number_of_unread_notifications(window, link, brand, width):
    page = window(viewport={"width": width, "height": 700})
    page.goto(link("owner"))
    with db.unit_of_work(brand.id):
        notices.stage(NewNotice(brand.id, "webhook_failing", uuid4(), title="It fails", path="/dashboard/webhooks"))
    drain()
    page.goto("/dashboard/affiliates")
    bell = page.get_by_role("link", name="Notifications 1 unread")

    expect(bell).to_be_visible()
    number = bell.locator(".unread-count").bounding_box()
    assert number is not None
    assert number["width"] >= 8
    assert number["height"] >= 8
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
