"""What the pages say after a run, an undo and a cancellation. Source: the switch-over rules, "Screens and command"."""

import re

import pytest

from models import db
from models.switches import switches
from tests.support.job_queues import drain
from tests.support.switches.judged_rows import JudgedSwitch
from tests.support.switches.switch_states import PREVIEW, RESULT, TO_CONFIRM, insert_rows, insert_switch

_PAYABLE = PREVIEW | {"to_confirm": TO_CONFIRM | {"payable": [{"currency": "USD", "cents": 98000}]}}
_UNDONE = {name: {**counts, "remaining": 1} for name, counts in RESULT.items()}


def _page(switch_id):
    return f"/dashboard/switch/{switch_id}"


def test_result_of_payable_run_warns_of_paying_twice(brand, people, read_text):
    switch_id = insert_switch(brand, "Completed", preview=_PAYABLE, options={"unpaid": "payable"})

    text = read_text(people().open(_page(switch_id)))

    assert "Pay nothing more in the old system" in text
    assert "Became payable here 980.00 USD" in text
    assert "until its last payout" not in text


def test_preview_of_payable_run_warns_of_paying_twice(brand, people, read_text):
    switch_id = insert_switch(brand, "Ready", preview=_PAYABLE, options={"unpaid": "payable"})

    text = read_text(people().open(_page(switch_id)))

    assert "After this, pay nothing more there for these commissions." in text
    assert "Pay what is due in the old system" not in text


def test_run_without_anything_new_says_so(brand, people, read_text):
    nothing = {"affiliates": 0, "customers": 0, "commissions": 0, "payable": []}
    switch_id = insert_switch(brand, "Ready", preview=PREVIEW | {"to_confirm": nothing})

    text = read_text(people().open(_page(switch_id)))

    assert "Nothing new to bring." in text
    assert "Run: nothing new" in text
    assert "You can undo the switch for 14 days." in text


def test_changed_rows_are_counted_beside_the_run(brand, people, read_text):
    counts = PREVIEW["counts"] | {"commissions": PREVIEW["counts"]["commissions"] | {"changed": 3}}
    switch_id = insert_switch(brand, "Ready", preview=PREVIEW | {"counts": counts})

    assert "Of these, changed and not new: Commissions 3" in read_text(people().open(_page(switch_id)))


@pytest.mark.parametrize("state", ["Ready", "Undoing", "Undone", "Cancelled"])
def test_undo_of_other_state_leads_back_to_the_switch(brand, people, read_text, state):
    switch_id, browser = insert_switch(brand, state), people()

    answers = browser.open(f"{_page(switch_id)}/undo"), browser.send(f"{_page(switch_id)}/undo")

    back = f"{_page(switch_id)}?done=not-undone"
    assert [(answer.status_code, answer.headers["Location"]) for answer in answers] == [(303, back)] * 2
    assert "can't be undone now" in read_text(browser.open(back))


def test_undo_page_counts_records_that_stay_by_reason(brand, people, read_text):
    brand.program()
    switch = JudgedSwitch(brand)
    switch.customer(switch.affiliate("ben@example.com"), "cus_ben")
    switch.run()
    assert brand.sale(affiliateSlug="ben", customerId="cus_ben").status_code == 200
    drain("sales")

    text = read_text(people().open(f"{_page(switch.id)}/undo"))

    assert "2 records stay because a customer has a later payment, lead or sale here" in text


def test_undone_switch_shows_what_was_removed_and_what_stayed(brand, people, read_text):
    switch_id = insert_switch(brand, "Undone", result=_UNDONE, undone_at="2026-05-20T08:00:00Z")

    text = read_text(people().open(_page(switch_id)))

    assert "This switch was undone on" in text
    assert "Affiliates 3 2 1" in text
    assert "Merged" not in text


@pytest.mark.parametrize(
    ("state", "words"),
    [("Cancelled", "cancelled, and its rows are deleted"), ("Reading", "when everything is read and checked")],
)
def test_rows_that_do_not_exist_are_explained(brand, people, read_text, state, words):
    switch_id = insert_switch(brand, state, preview=None)

    answer = people().open(f"{_page(switch_id)}/rows")

    assert answer.status_code == 200
    assert words in read_text(answer)
    assert "errors below" not in answer.text


def test_rows_show_affiliate_and_date(brand, people, read_text):
    switch_id = insert_switch(brand, "Ready")
    insert_rows(brand, switch_id)

    text = read_text(people().open(f"{_page(switch_id)}/rows?collection=commissions"))

    assert "person1@example.com" in text
    assert "1 May 2026" in text


def test_viewer_is_not_offered_another_switch(brand, people):
    switch_id = insert_switch(brand, "Cancelled")

    assert "Start another switch" not in people("Viewer").open(_page(switch_id)).text
    assert "Start another switch" in people("Manager").open(_page(switch_id)).text


def test_live_part_has_one_root_and_the_state(brand, people):
    browser, switch_id = people(), insert_switch(brand, "Reading")

    part = browser.open(f"{_page(switch_id)}/fragment?seen=0").text.strip()
    page = browser.open(_page(switch_id)).text
    with db.unit_of_work(brand.id):
        switches.update(switches.lock(organization_id=brand.id, switch_id=switch_id), {"state": "Ready", "stage": None})
    last = browser.open(f"{_page(switch_id)}/fragment?seen=0").text

    assert part.startswith('<div id="switch-progress"')
    assert _count_roots(part) == 1
    assert (part.count("/cancel"), page.count(f'action="{_page(switch_id)}/cancel"')) == (0, 1)
    assert page.count(">Reading</span>") == 1
    assert ">Ready</span>" in last


def _count_roots(html):
    depth, roots = 0, 0
    for closing, name in re.findall(r"<(/?)([a-z][a-z0-9]*)\b", html):
        if name in ("input", "br", "use", "path", "img"):
            continue
        roots += depth == 0 and not closing
        depth += -1 if closing else 1
    return roots
