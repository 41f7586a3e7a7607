"""The start page of the console, and the pause of a queue. Source: the pages' interface, "Now"."""

import re

import pytest

from domain import jobs
from models import db, ids
from models.jobs import processes
from tests.support.outside.console import list_audit_entries, stage_failed_job, stage_job


def _row(html, queue):
    return re.search(rf'<tr id="queue-{queue}" role="row">.*?</tr>', html, re.DOTALL)[0]


def _list_pauses():
    with db.any_org_work():
        return db.db.run("select queue, why from queue_pause")


def test_every_queue_is_the_header_of_its_row(operator):
    html = operator.open("/console").text

    assert '<table aria-label="Queues" role="table">' in html
    for queue in jobs.QUEUES:
        row = _row(html, queue)
        assert f'<th scope="row" role="rowheader">{queue}</th>' in row
        assert f'Pause<span class="unseen"> {queue}</span>' in row
    assert 'data-hold aria-pressed="false"' in html


def test_queue_row_shows_workers_and_dead_letters(operator, brand):
    stage_failed_job(brand)
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=["sales"], threads=4, done={"sales": 1_234})
    html = operator.open("/console").text

    assert ">1,234<" in _row(html, "sales")
    assert '<a href="/console/dead?queue=sales">1' in _row(html, "sales")
    assert "No workers" in _row(html, "mail")


def test_pause_asks_for_a_reason_on_its_own_page(operator):
    form_page = operator.open("/console/queues/sales/pause")
    answer = operator.send("/console/queues/sales/pause", {"why": "the processor is away", "_key": "a"})
    html = operator.open("/console").text

    assert '<label for="why">Why</label>' in form_page.text
    assert "Pause sales" in form_page.text
    assert (answer.status_code, answer.headers["Location"]) == (303, "/console")
    assert _list_pauses() == [("sales", "the processor is away")]
    assert "the processor is away" in _row(html, "sales")
    assert 'Resume<span class="unseen"> sales</span>' in _row(html, "sales")
    assert list_audit_entries("queue.paused", "sales")[-1][:2] == ("operator", "operator@example.com")

    assert operator.send("/console/queues/sales/resume", {"_key": "b"}).status_code == 303
    assert _list_pauses() == []


def test_pause_without_a_reason_shows_an_alert(operator):
    answer = operator.send("/console/queues/sales/pause", {"why": " ", "_key": "a"})

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "<title>Error:" in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert _list_pauses() == []


@pytest.mark.parametrize("path", ["/console/queues/cellar/pause", "/console/queues/cellar/resume"])
def test_unknown_queue_is_a_404_page(operator, path):
    assert operator.send(path, {"why": "w"}).status_code == 404


def test_dead_letter_is_listed_as_waiting_with_a_link(operator, brand, page_text):
    assert "dead letter" not in page_text(operator.open("/console")).partition("Queues")[0].partition("Waiting")[2]
    stage_failed_job(brand)
    page = operator.open("/console")

    assert "1 dead letter " in page_text(page)
    assert 'href="/console/dead"' in page.text


def _live_address(html, id):
    return re.search(rf'id="{id}" data-live hx-get="([^"]*)"', html)[1].replace("&amp;", "&")


def test_live_part_is_sent_only_after_a_change(operator, brand):
    address = _live_address(operator.open("/console").text, "queues")
    unchanged = operator.open(address)
    stage_failed_job(brand)
    changed = operator.open(address)

    assert (unchanged.status_code, unchanged.data) == (204, b"")
    assert changed.status_code == 200
    assert changed.text.lstrip().startswith('<div id="queues"')


def test_age_alone_does_not_change_the_live_part(operator, brand):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    address = _live_address(operator.open("/console").text, "queues")
    with db.any_org_work():
        db.db.run("update job set run_at = now() - interval '3 hours'")

    assert operator.open(address).status_code == 204
    assert "3 h" in _row(operator.open("/console").text, "sales")


def test_queue_shows_why_its_jobs_wait(operator, brand, page_text):
    number = stage_job(brand, job=jobs.GATEWAY_EVENT)
    with db.any_org_work():
        db.db.run(
            "update job set waits_for = 'stripe: it answers <429>', run_at = now() + interval '1 hour', attempt = 1"
            " where id = %s returning 1",
            (number,),
        )

    assert "1 job is waiting: stripe: it answers &lt;429&gt; (until " in page_text(operator.open("/console"))
