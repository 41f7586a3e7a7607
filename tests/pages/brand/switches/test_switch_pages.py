"""The pages of a switch, by state and role. Source: the switch-over rules, "Screens and command"."""

import re

import orjson
import pytest

from models import db
from models.switches import switches
from tests.support.switches.switch_states import PREVIEW, insert_rows, insert_switch

_LIST = "/dashboard/switch"
_STATES = ("Connected", "Reading", "Ready", "Writing", "Paused", "Completed", "Undoing", "Undone", "Cancelled")


def _page(switch_id):
    return f"{_LIST}/{switch_id}"


def _forms(answer):
    """Return the actions of the POST forms of a page, without those of the frame."""
    actions = re.findall(r'<form method="post" action="([^"]+)"', answer.text)
    return [action for action in actions if action not in ("/sign-out", "/theme", "/switch-organization")]


def _text(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.text))


def test_systems_are_offered_and_switches_listed(brand, people):
    switch_id = insert_switch(brand, "Completed")

    answer = people().open(_LIST)

    assert answer.status_code == 200
    assert re.search(r"<h1>Switch</h1>", answer.text)
    for name in ("rewardful", "firstpromoter", "tolt", "partnerstack", "tapfiliate", "lemonsqueezy", "dub", "files"):
        assert f'href="/dashboard/switch/new?source={name}"' in answer.text
    assert f'href="{_page(switch_id)}"' in answer.text


def test_open_switch_is_offered_instead_of_another(brand, people):
    switch_id = insert_switch(brand, "Ready")

    answer = people().open(_LIST)

    assert "/dashboard/switch/new" not in answer.text
    assert f'href="{_page(switch_id)}"' in answer.text


@pytest.mark.parametrize(("role", "is_shown"), [("Owner", True), ("Manager", True), ("Viewer", False)])
def test_navigation_is_for_managers_and_above(people, role, is_shown):
    assert ('<a href="/dashboard/switch"' in people(role).open("/dashboard").text) == is_shown


def test_key_is_asked_for_with_where_to_find_it(people):
    answer = people().open(f"{_LIST}/new?source=firstpromoter")

    assert "<h1>Switch from FirstPromoter</h1>" in answer.text
    assert 'name="apiKey"' in answer.text
    assert 'name="accountId"' in answer.text
    assert "Manage API keys" in answer.text


def test_empty_key_is_an_error_at_its_field(brand, people):
    answer = people().send(f"{_LIST}/new?source=rewardful", {"source": "rewardful", "apiSecret": " "})

    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert brand.rows("select count(*) from switch") == [(0,)]


def test_unknown_system_is_not_found(people):
    assert people().open(f"{_LIST}/new?source=nowhere").status_code == 404


def test_files_are_mapped_and_read_without_scripts(brand, people):
    program_id, browser = brand.program(), people("Manager")
    connected = browser.send(f"{_LIST}/new?source=files", {"source": "files"})
    page = connected.headers["Location"]
    content = b"Partner email;Name;Status\nben@example.com;Ben Osei;active\nada@example.com;Ada Ek;odd\n"

    uploaded = browser.upload(f"{page}/files", {"collection": "affiliates", "part": "1"}, content, "people.csv")
    mapping = browser.open(page)
    columns = {"col-email": "Partner email", "col-fullName": "Name", "col-status": "Status"}
    saved = browser.send(f"{page}/columns", {"collection": "affiliates", **columns})
    worded = browser.send(f"{page}/columns", {"collection": "affiliates", **columns, "theirs": "odd", "ours": "Paused"})
    after = browser.open(page)

    assert [answer.status_code for answer in (connected, uploaded, saved, worded)] == [303] * 4, uploaded.text
    assert '<option value="Partner email" selected>' in mapping.text
    assert "The first rows as they will be" in mapping.text
    assert "Ben Osei" in after.text
    assert '<option value="Paused" selected>' in after.text
    fields = {"campaign-0": "all", "program-0": str(program_id), "unpaid": "history", "then": "read", "codes": "on"}
    started = browser.send(f"{page}/settings", fields)
    assert (started.status_code, started.headers["Location"]) == (303, page), started.text
    assert brand.rows("select state from switch") == [("Reading",)]


def test_file_that_is_no_csv_is_an_error_at_its_field(people):
    browser = people()
    page = browser.send(f"{_LIST}/new?source=files", {"source": "files"}).headers["Location"]

    missing = browser.upload(f"{page}/files", {"collection": "affiliates"}, b"", "people.csv")
    binary = browser.upload(f"{page}/files", {"collection": "affiliates"}, b"\xff\xfe\x00", "people.csv")

    assert (missing.status_code, binary.status_code) == (422, 422)
    assert "Choose a file." in missing.text
    assert 'id="file-file-error"' in binary.text


def test_reading_without_a_program_is_refused_on_the_page(people):
    browser = people()
    page = browser.send(f"{_LIST}/new?source=files", {"source": "files"}).headers["Location"]

    answer = browser.send(f"{page}/settings", {"campaign-0": "all", "program-0": "", "then": "read"})

    assert answer.status_code == 409
    assert 'role="alert"' in answer.text


@pytest.mark.parametrize("state", _STATES)
def test_every_state_has_a_page_without_odd_words(brand, people, state):
    answer = people().open(_page(insert_switch(brand, state)))

    assert answer.status_code == 200, answer.text
    assert len(re.findall("<h1>", answer.text)) == 1
    assert not re.search(r"\b(None|NaN|undefined|null)\b", _text(answer))


@pytest.mark.parametrize("state", _STATES)
def test_viewer_meets_no_form(brand, people, state):
    browser, switch_id = people("Viewer"), insert_switch(brand, state)

    for address in (_LIST, _page(switch_id)):
        answer = browser.open(address)
        assert (answer.status_code, _forms(answer)) == (200, [])


def test_manager_sees_the_preview_but_does_not_run(brand, people):
    switch_id = insert_switch(brand, "Ready")
    answer = people("Manager").open(_page(switch_id))

    assert f"{_page(switch_id)}/run" not in _forms(answer)
    assert f"{_page(switch_id)}/settings" in _forms(answer)
    assert "Only an Owner can run the switch." in answer.text


def test_preview_begins_with_differences_and_repeats_the_totals(brand, people):
    switch_id = insert_switch(brand, "Ready")

    answer = people().open(_page(switch_id))

    headings = re.findall(r'<h2 id="([a-z-]+)"', answer.text)
    assert headings[0] == "differences"
    assert headings.index("left-out") < headings.index("run-title")
    text = _text(answer)
    assert "Nobody is written to." in text
    assert "Run: 3 affiliates, 2 customers, 4 commissions" in text
    assert "Number of affiliates" in text
    assert text.index("Number of affiliates") < text.index("Show the 1 number that agrees") < text.index("Balance")
    assert f'href="{_page(switch_id)}/rows?collection=commissions&amp;reason=in_future"' in answer.text
    assert f'href="{_page(switch_id)}/rows.csv?collection=commissions&amp;reason=in_future"' in answer.text
    assert "Commission: " not in text
    assert "Friends Commission 30 % 20 %" in text
    assert "2 links are on the host of the old system" in text


def test_payable_amounts_are_shown(brand, people):
    payable = [{"currency": "USD", "cents": 98000}, {"currency": "JPY", "cents": 5}]
    confirm = PREVIEW["to_confirm"] | {"payable": payable}
    switch_id = insert_switch(brand, "Ready", preview=PREVIEW | {"to_confirm": confirm}, options={"unpaid": "payable"})

    assert "980.00 USD + 5 JPY" in _text(people().open(_page(switch_id)))


def test_owner_runs_with_the_totals_of_the_page(brand, people):
    switch_id, browser = insert_switch(brand, "Ready"), people()
    answer = browser.open(_page(switch_id))
    confirm = re.search(r'name="confirm" value="([^"]+)"', answer.text)[1].replace("&#34;", '"')

    started = browser.send(f"{_page(switch_id)}/run", {"confirm": confirm})

    assert (started.status_code, started.headers["Location"]) == (303, _page(switch_id))
    assert brand.rows("select state from switch") == [("Writing",)]


def test_run_of_a_changed_preview_shows_the_new_totals(brand, people):
    switch_id, browser = insert_switch(brand, "Ready"), people()
    with db.unit_of_work(brand.id):
        switch = switches.lock(organization_id=brand.id, switch_id=switch_id)
        switches.update(switch, {"preview": PREVIEW | {"to_confirm": PREVIEW["to_confirm"] | {"affiliates": 9}}})

    answer = browser.send(
        f"{_page(switch_id)}/run", {"confirm": '{"affiliates":3,"customers":2,"commissions":4,"payable":[]}'}
    )

    assert answer.status_code == 409
    assert 'role="alert"' in answer.text
    assert "Run: 9 affiliates" in _text(answer)


def test_old_login_is_renewed_before_money_becomes_payable(brand, people):
    confirm = PREVIEW["to_confirm"] | {"payable": [{"currency": "USD", "cents": 980}]}
    switch_id = insert_switch(brand, "Ready", preview=PREVIEW | {"to_confirm": confirm}, options={"unpaid": "payable"})
    browser = people()
    brand.rows("update web_session set signed_in_at = signed_in_at - interval '2 hours' returning 1")

    form = {"confirm": orjson.dumps(confirm).decode(), "_page": _page(switch_id)}
    refused = browser.send(f"{_page(switch_id)}/run", form)

    assert refused.status_code == 303
    assert refused.headers["Location"].startswith("/sign-in")
    assert brand.rows("select state from switch") == [("Ready",)]


def test_progress_is_live_and_unchanged_is_204(brand, people):
    browser, switch_id = people(), insert_switch(brand, "Writing")
    page = browser.open(_page(switch_id))
    address = re.search(r'hx-get="([^"]+)"', page.text)[1].replace("&amp;", "&")

    unchanged = browser.open(address)
    with db.unit_of_work(brand.id):
        switch = switches.lock(organization_id=brand.id, switch_id=switch_id)
        switches.update(switch, {"state": "Completed", "stage": None})
    changed = browser.open(address)

    assert unchanged.status_code == 204
    assert (changed.status_code, "See the result" in changed.text) == (200, True)


def test_reading_shows_pace_waiting_and_cancel(brand, people):
    browser = people()
    switch_id = insert_switch(brand, "Reading", waiting_until="2099-05-18T09:30:00Z")

    answer = browser.open(_page(switch_id))
    cancelled = browser.send(f"{_page(switch_id)}/cancel")

    text = _text(answer)
    assert re.search(r"About \d+ rows a minute", text)
    assert "Rewardful limits how fast we may read: we make at most 84 requests a minute." in text
    assert "Rewardful asked us to wait." in text
    assert "At least" not in text
    assert (cancelled.status_code, cancelled.headers["Location"]) == (303, _page(switch_id))
    assert brand.rows("select state from switch") == [("Cancelled",)]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("credentials_refused", "no longer accepts the key"),
        ("source_unavailable", "did not answer"),
        ("answer_too_large", "more than 16 MiB"),
        ("internal_error", "on our side"),
        ("too_many_rows", "more than 2,000,000 commissions"),
    ],
)
def test_paused_switch_says_why_and_resumes(brand, people, code, words):
    browser, switch_id = people("Manager"), insert_switch(brand, "Paused", last_error_code=code)

    answer = browser.open(_page(switch_id))
    resumed = browser.send(f"{_page(switch_id)}/resume", {"apiSecret": ""})

    assert words in _text(answer)
    assert 'name="apiSecret"' in answer.text
    assert (resumed.status_code, brand.rows("select state from switch")) == (303, [("Reading",)])


def test_result_has_next_steps_and_undo(brand, people):
    switch_id = insert_switch(brand, "Completed")

    answer = people().open(_page(switch_id))

    text = _text(answer)
    for words in ("Put our tag on your site", "Stop tracking in the old system", "Run a second switch", "You can undo"):
        assert words in text
    assert f'href="{_page(switch_id)}/undo"' in answer.text


def test_rows_are_filtered_and_downloaded(brand, people):
    switch_id, browser = insert_switch(brand, "Ready"), people("Viewer")
    insert_rows(brand, switch_id)

    answer = browser.open(f"{_page(switch_id)}/rows?collection=commissions&reason=in_future")
    file = browser.open(f"{_page(switch_id)}/rows.csv?reason=in_future")

    assert ("order-3" in answer.text, "order-2" in answer.text) == (True, False)
    assert "The date is in the future" in _text(answer)
    assert f'href="{_page(switch_id)}/rows.csv?collection=commissions&amp;reason=in_future"' in answer.text
    assert (file.mimetype, len(file.text.splitlines())) == ("text/csv", 2)


def test_other_tenants_switch_is_not_found(app, people):
    from tests.support.rows.brands import Brand

    switch_id, browser = insert_switch(Brand.create(app), "Ready"), people()

    for address in ("", "/rows", "/rows.csv", "/undo", "/fragment"):
        assert browser.open(f"{_page(switch_id)}{address}").status_code == 404
    for address in ("/settings", "/read", "/cancel", "/resume", "/run", "/undo"):
        assert browser.send(f"{_page(switch_id)}{address}").status_code == 404


def test_undo_shows_what_would_go_and_begins(brand, people):
    switch_id, browser = insert_switch(brand, "Completed"), people()

    before = browser.open(f"{_page(switch_id)}/undo")
    started = browser.send(f"{_page(switch_id)}/undo")

    assert (before.status_code, _forms(before)) == (200, [f"{_page(switch_id)}/undo"])
    assert (started.status_code, started.headers["Location"]) == (303, _page(switch_id))
    assert brand.rows("select state from switch") == [("Undoing",)]


def test_undo_that_stopped_is_resumed(brand, people):
    switch_id, browser = insert_switch(brand, "Undoing"), people()
    error = "last_error_code = 'internal_error', last_error_message = 'It failed.', last_error_at = now()"
    brand.rows(f"update switch set {error} returning id")

    before = browser.open(_page(switch_id))
    answer = browser.send(f"{_page(switch_id)}/resume")

    assert (before.status_code, _forms(before)) == (200, [f"{_page(switch_id)}/resume"])
    assert "It failed." in before.get_data(as_text=True)
    assert answer.status_code == 303
    assert brand.rows("select state, last_error_code from switch") == [("Undoing", None)]
    assert brand.rows("select count(*) from job where name = 'switch.undo'") == [(1,)]


def test_viewer_sees_the_undo_without_a_form(brand, people):
    answer = people("Viewer").open(f"{_page(insert_switch(brand, 'Completed'))}/undo")

    assert (answer.status_code, _forms(answer)) == (200, [])
