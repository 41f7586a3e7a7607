"""The console in a real browser: arriving, replayed and discarded dead letters, and paused queues.

Source: the pages' interface, "Now" and "Dead letters"; journey 8.
"""

import re

import pytest
from playwright.sync_api import expect

from domain import jobs
from models import db
from tests.support.outside.console import stage_failed_job, stage_job
from tests.support.pages.navigation import press


@pytest.fixture
def console(window, link):
    """Return a window signed in as the operator."""
    page = window()
    page.goto(link("operator"))
    return page


def _list_dead_ids():
    with db.any_org_work():
        return [number for (number,) in db.db.run("select id from job where failed_at is not null order by id")]


def _find_dead_letter(page, number):
    return page.locator(f"#dead-{number}")


def test_dead_letter_appears_while_the_operator_types(console, brand):
    first = stage_failed_job(brand)
    console.goto("/console/dead")
    _find_dead_letter(console, first).locator("summary").click()
    why = _find_dead_letter(console, first).get_by_label("Or discard, because")
    why.fill("the brand has ")
    second = stage_failed_job(brand, job=jobs.REFUND_CASCADE)
    _find_dead_letter(console, second).wait_for()
    console.keyboard.type("paid it by hand")

    assert _find_dead_letter(console, first).evaluate("details => details.open")
    expect(why).to_have_value("the brand has paid it by hand")
    expect(why).to_be_focused()

    _find_dead_letter(console, second).locator("summary").click()
    press(_find_dead_letter(console, second).get_by_role("button", name="Replay"))
    assert _list_dead_ids() == [first]

    _find_dead_letter(console, first).locator("summary").click()
    press(_find_dead_letter(console, first).get_by_role("button", name="Discard for ever"))
    expect(console.get_by_role("alert")).to_be_visible()
    assert console.title().startswith("Error:")
    why = _find_dead_letter(console, first).get_by_label("Or discard, because")
    why.fill("the brand has paid it by hand")
    press(_find_dead_letter(console, first).get_by_role("button", name="Discard for ever"))
    console.get_by_text("No dead letters").wait_for()
    assert _list_dead_ids() == []


def test_paused_queue_fills_and_resumes(console, brand):
    table = console.get_by_role("table", name="Queues")
    row = table.get_by_role("row", name=re.compile("^sales"))
    waiting = row.get_by_role("cell").nth(1)
    before = int(waiting.inner_text())
    press(row.get_by_role("button", name="Pause sales"))
    console.get_by_role("textbox", name="Why").fill("the processor is being mended")
    press(console.get_by_role("button", name="Pause sales"))
    row.get_by_text("the processor is being mended").wait_for()
    stage_job(brand)
    waiting.get_by_text(str(before + 1), exact=True).wait_for()

    press(row.get_by_role("button", name="Resume sales"))
    row.get_by_role("button", name="Pause sales").wait_for()
    with db.any_org_work():
        assert db.db.run("select queue from queue_pause") == []


def test_frozen_console_updates_after_it_is_released(console, brand):
    open_requests = set()
    console.on("request", lambda request: open_requests.add(request))
    for end in ("requestfinished", "requestfailed"):
        console.on(end, lambda request: open_requests.discard(request))
    console.goto("/console/dead")
    hold = console.get_by_role("button", name="Pause live updates")
    hold.click()
    expect(hold).to_have_attribute("aria-pressed", "true")
    while open_requests:  # earlier requests may still be answered
        console.wait_for_timeout(20)
    job_id = stage_failed_job(brand)
    console.wait_for_timeout(3_000)
    assert _find_dead_letter(console, job_id).count() == 0

    hold.click()
    _find_dead_letter(console, job_id).wait_for()
    expect(hold).to_have_attribute("aria-pressed", "false")


def test_console_actions_work_without_scripts(window, link, brand):
    page = window(java_script_enabled=False)
    page.goto(link("operator"))
    job_id = stage_failed_job(brand)
    page.goto("/console/dead")
    _find_dead_letter(page, job_id).locator("summary").click()
    press(_find_dead_letter(page, job_id).get_by_role("button", name="Replay"))
    page.get_by_text("No dead letters").wait_for()
    page.goto("/console")
    press(page.get_by_role("button", name="Pause mail"))
    page.get_by_role("textbox", name="Why").fill("because")
    press(page.get_by_role("textbox", name="Why"), "Enter")
    press(page.get_by_role("button", name="Resume mail"))

    assert page.get_by_role("button", name="Pause mail").count() == 1
