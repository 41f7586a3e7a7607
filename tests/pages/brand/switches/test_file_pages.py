"""The files of a switch on its page: uploads, columns, statuses and first rows.

Source: the switch-over rules, "Screens and command".
"""

import re

import pytest

from tests.support.switches.switch_states import insert_switch

_EXPORT = (
    "Affiliate ID,Email,Name,Payment Email,Username,Rate,Status,Date Registered\n"
    "1,lena@example.org,Lena Voss,,lenav,20,active,2024-02-01\n"
    "2,tom@example.org,Tom Reed,,tomr,20,inactive,2024-03-01\n"
)


@pytest.fixture
def browser(people):
    return people("Manager")


@pytest.fixture
def page(browser):
    return browser.send("/dashboard/switch/new?source=files", {"source": "files"}).headers["Location"]


def _upload(browser, page, content, collection="affiliates", part="1"):
    answer = browser.upload(f"{page}/files", {"collection": collection, "part": part}, content.encode(), "a.csv")
    assert answer.status_code == 303, answer.text
    return browser.open(answer.headers["Location"].partition("#")[0])


def _columns(brand, collection="affiliates"):
    [(columns,)] = brand.rows("select columns from switch")
    return columns.get(collection)


def _words(brand, collection="affiliates"):
    [(words,)] = brand.rows("select words from switch")
    return words.get(collection)


def _text(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.text))


def test_file_in_place_of_another_has_columns_of_its_own(brand, browser, page):
    _upload(browser, page, "Email,Name\n")

    answer = _upload(browser, page, _EXPORT)

    assert _columns(brand) == {
        "id": "Affiliate ID",
        "email": "Email",
        "fullName": "Name",
        "status": "Status",
        "token": "Username",
        "walletEmail": "Payment Email",
    }
    assert "Columns that are not used: Rate, Date Registered" in _text(answer)
    assert "Paused" in _text(answer)


def test_chosen_column_stays_while_its_heading_exists(brand, browser, page):
    _upload(browser, page, "Email,Name,Nick\nben@example.com,Ben,benny\n")
    chosen = {"col-email": "Email", "col-fullName": "Nick"}
    browser.send(f"{page}/columns", {"collection": "affiliates", **chosen})

    _upload(browser, page, "Email,Name,Nick\nada@example.com,Ada,adi\n")
    assert _columns(brand) == {"email": "Email", "fullName": "Nick"}
    _upload(browser, page, "Email,Name,Nick,Status\nada@example.com,Ada,adi,active\n")

    assert _columns(brand) == {"email": "Email", "fullName": "Nick", "status": "Status"}
    assert _words(brand) == {"active": "Approved"}


def test_details_are_open_after_an_upload_and_while_something_is_to_be_chosen(browser, page):
    uploaded = _upload(browser, page, _EXPORT)
    later = browser.open(page)

    assert "<details open><summary>Columns and statuses" in uploaded.text
    assert "<details><summary>Columns and statuses" in later.text


@pytest.mark.parametrize(
    "case",
    [
        (
            "affiliates",
            "E-Mail,Zustand\nben@example.com,gesperrt\n",
            "No status column: all affiliates come as Approved.",
            "Paused",
            "No status column: all affiliates come as Paused.",
        ),
        (
            "commissions",
            "Affiliate email,Commission,Date,Zustand\nben@example.com,5,2026-01-02,offen\n",
            "No status column: all commissions count as paid.",
            "owed",
            "No status column: all commissions count as “Due, not paid yet”.",
        ),
    ],
)
def test_file_without_a_status_column_says_what_its_rows_are(brand, browser, page, case):
    collection, content, sentence, confirmed, after = case
    _upload(browser, page, content, collection)
    before = browser.open(page)
    columns = {f"col-{field}": heading for field, heading in _columns(brand, collection).items()}
    form = {"collection": collection, **columns, "without-word": confirmed}
    browser.send(f"{page}/columns", form)
    then = browser.open(page)

    assert f"{sentence} Choose the column below, or confirm what the rows are." in _text(before)
    assert "<details open><summary>Columns and statuses" in before.text
    assert after in _text(then)
    assert "or confirm" not in _text(then)
    assert "<details><summary>Columns and statuses" in then.text
    field = "status" if collection == "affiliates" else "state"
    browser.send(f"{page}/columns", {**form, f"col-{field}": "Zustand"})
    assert _words(brand, collection) == {}


def test_suggested_meaning_of_a_status_counts_at_once(brand, browser, page):
    answer = _upload(browser, page, "Email,Status\nben@example.com,blocked\nada@example.com,odd\n")

    assert _words(brand) == {"blocked": "Banned"}
    assert "Banned" in answer.text
    assert "1 affiliate has an unknown status there and comes as Pending" in _text(answer)


def test_uploaded_part_is_removed(brand, browser, page):
    _upload(browser, page, _EXPORT)
    _upload(browser, page, _EXPORT, part="2")

    removed = browser.send(f"{page}/remove-file", {"collection": "affiliates", "part": "1"})
    twice = browser.send(f"{page}/remove-file", {"collection": "affiliates", "part": "1"})

    assert removed.status_code == 303
    assert "The file was removed." in browser.open(removed.headers["Location"]).text
    assert twice.status_code == 404
    assert brand.rows("select name from switch_list") == [("affiliates/02",)]


def test_viewer_cannot_remove_a_part(brand, people, browser, page):
    _upload(browser, page, _EXPORT)

    assert "remove-file" not in people("Viewer").open(page).text
    assert "Lena Voss" in people("Viewer").open(page).text


@pytest.mark.parametrize("part", ["abc", "0", "65", "1.5", "\u0663"])
def test_part_that_is_no_number_is_an_error_at_its_field(browser, page, part):
    answer = browser.upload(f"{page}/files", {"collection": "affiliates", "part": part}, b"email\n", "a.csv")

    assert answer.status_code == 422
    assert "Enter a number from 1 to 64." in answer.text
    assert 'id="file-part-error"' in answer.text


def test_first_rows_are_shown_in_words(brand, browser, page):
    answer = _upload(
        browser,
        page,
        "Affiliate email,Amount,Commission,Currency,Date,Status\n"
        "ben@example.com,100.00,20.00,USD,2026-01-02 10:00:00,unpaid\n"
        "ben@example.com,100.00,20.00,XXX,2026-01-02 10:00:00,unpaid\n",
        "commissions",
    )

    text = _text(answer)
    assert "20.00 USD" in text.replace("\u00a0", " ")
    assert "Due, not paid yet" in text
    assert "2 Jan 2026" in text
    assert "T10:00:00" not in answer.text.partition("<h3>")[2].replace('datetime="2026-01-02T10:00:00Z"', "")
    assert "The currency is not supported" in text


def test_preview_says_how_many_only_other_rows_name(brand, people):
    switch_id = insert_switch(brand, "Ready")
    preview = "jsonb_set(preview, '{counts,affiliates,implied}', '1')"
    brand.rows(f"update switch set source = 'files', preview = {preview} where id = %s returning 1", switch_id)

    answer = people().open(f"/dashboard/switch/{switch_id}")

    assert answer.status_code == 200
    assert "1 affiliate is in no list of affiliates" in _text(answer)
    assert "in no list of customers" not in _text(answer)
