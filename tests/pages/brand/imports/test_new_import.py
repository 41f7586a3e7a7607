"""Imports on the dashboard. Source: the pages' interface, "New import" and "Import"."""

import base64
import html
import random
import re
import time
import zlib

import pytest

from pages.brand.imports import new_import
from tests.support.api.import_requests import build_past_sale, build_person_row, import_people, import_sales
from tests.support.pages.import_forms import NEW, upload_file

_HEADER = "affiliateSlug,amountCents,commissionCents,currency,occurredAt"
_GOOD = f"{_HEADER}\nben,10000,2000,USD,2024-01-31\nben,4900,980,EUR,2024-02-01\n"
_WRONG = f"{_GOOD}ben,4900,980,EURO,2024-02-01\nnobody,4900,980,EUR,2024-02-01\n"


def _preview_fields(answer):
    """Return the fields of the form below a preview."""
    form = next(form for form in re.findall("<form.*?</form>", answer.text, re.DOTALL) if 'name="packed"' in form)
    fields = {}
    for tag in re.findall("<input[^>]*>", form):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes["type"] == "hidden" or " checked" in tag:
            fields[attributes["name"]] = html.unescape(attributes["value"])
    return fields


def _buttons(answer):
    return re.findall(r"<button class=\"button (?:primary)?\">([^<]*)</button>", answer.text)


def test_file_is_previewed_and_imported_as_history(campaign, owner):
    import_sales(campaign, build_past_sale(occurredAt="2024-01-31"))

    preview = upload_file(owner, campaign, _GOOD)

    assert preview.status_code == 200
    assert [text in preview.text for text in ("1 new", "1 known", "0 wrong")] == [True] * 3
    assert "Import 1 row" in _buttons(preview)
    assert campaign.rows("select count(*) from import_job") == [(1,)]
    assert _preview_fields(preview)["then"] == "history"

    redirect = owner.send(NEW, _preview_fields(preview))

    assert redirect.status_code == 303
    import_page = owner.open(redirect.headers["Location"])
    assert [text in import_page.text for text in (">Done<", ">Undo<", "Import of conversions")] == [True] * 3
    assert campaign.rows("select status, payout_locked from conversion where currency = 'EUR'") == [("Pending", True)]


def test_unpaid_sales_become_payable_on_request(campaign, owner):
    preview = upload_file(owner, campaign, _GOOD)
    assert "9.80 EUR + 20.00 USD" in preview.text

    owner.send(NEW, _preview_fields(preview) | {"then": "payable"})

    assert campaign.rows("select distinct status, payout_locked from conversion") == [("Approved", False)]


def test_repeated_submission_creates_one_import(campaign, owner):
    fields = _preview_fields(upload_file(owner, campaign, _GOOD))

    first, second = owner.send(NEW, fields), owner.send(NEW, fields)

    assert first.headers["Location"] == second.headers["Location"]
    assert campaign.rows("select count(*) from import_job") == [(1,)]


def test_invalid_rows_are_listed_by_line_and_skipped(campaign, owner):
    preview = upload_file(owner, campaign, _WRONG)

    assert "2 wrong" in preview.text
    assert re.findall(r"<b>(row \d+)</b> ([^<]*)<", preview.text) == [
        ("row 4", "Its currency is not supported."),
        ("row 5", "The program has no such affiliate."),
    ]
    assert "Import without these 2 rows" in _buttons(preview)
    assert [label for label in _buttons(preview) if label.startswith("Import")] == ["Import without these 2 rows"]

    second_preview = owner.send(NEW, _preview_fields(preview) | {"then": "payable"})

    assert [label in second_preview.text for label in ("2 new", "0 wrong", "2 not imported")] == [True] * 3
    assert "Import 2 rows" in _buttons(second_preview)
    assert _preview_fields(second_preview)["then"] == "payable"
    assert campaign.rows("select count(*) from import_job") == [(0,)]

    import_page = owner.open(owner.send(NEW, _preview_fields(second_preview)).headers["Location"])

    assert campaign.rows("select imported, skipped, errored from import_job") == [(2, 1, 1)]
    assert "Its currency is not supported." in import_page.text


def test_affiliates_are_imported_by_the_same_form(campaign, owner):
    preview = upload_file(owner, campaign, "\ufeffemail;fullName\nann@x.test;Ann Ek\nno address;\n")

    assert [text in preview.text for text in ("Read as affiliates.", "semicolons", "byte order mark")] == [True] * 3
    assert "History only" not in preview.text
    second_preview = owner.send(NEW, _preview_fields(preview))
    import_page = owner.open(owner.send(NEW, _preview_fields(second_preview)).headers["Location"])

    assert "Import of affiliates" in import_page.text
    assert campaign.rows("select full_name from affiliate where email = 'ann@x.test'") == [("Ann Ek",)]


def test_amounts_in_major_units_are_labelled(campaign, owner):
    text = "affiliateSlug,amount,commission,currency,occurredAt\nben,49.00,9.80,EUR,2024-02-01\n"

    preview = upload_file(owner, campaign, text)

    assert "Amounts are read as 49.00." in preview.text
    assert "9.80 EUR" in preview.text


def test_file_of_known_rows_has_nothing_to_import(campaign, owner):
    owner.send(NEW, _preview_fields(upload_file(owner, campaign, _GOOD)))

    preview = upload_file(owner, campaign, _GOOD)

    assert ("2 known" in preview.text, "There is nothing new to import." in preview.text) == (True, True)
    assert not [label for label in _buttons(preview) if label.startswith(("Import", "Leave"))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "The file is empty."),
        (b" \r\n\r\n", "The file is empty."),
        (b",,,\r\n1,2,3,4\r\n", "The first line of the file must name the columns."),
        (f"{_HEADER}\n".encode(), "The file has a header and no rows."),
        (_GOOD.encode("utf-16"), "This is not a CSV file in UTF-8."),
        ("email,fullName\na@x.test,Åsa\n".encode("latin-1"), "This is not a CSV file in UTF-8."),
        (b"PK\x03\x04" + b"\0\1\2" * 500, "This is not a CSV file in UTF-8."),  # a workbook
        (b"email\n\x00@x.test\n", "This is not a CSV file in UTF-8."),
        (b"x" * 256 + b",email\n1,a@x.test\n", "A column name has more than 255 characters."),
        (b",".join(b"c%d" % number for number in range(5000)) + b"\n1\n", "The file has more than 100 columns."),
        (b"email,email,fullName\na@x.test,b@x.test,Ada\n", "The file has the column email twice."),
        (f"{_HEADER}\n{'ben,1,1,USD,2024-01-31' * 100_000}".encode(), "The file is larger than 2 MiB."),
        (_HEADER.encode() + b"\nben,1,1,USD,2024-01-31" * 1_001, "One import can have at most 1000 rows"),
    ],
)
def test_unreadable_file_shows_an_error_at_its_field(campaign, owner, text, message):
    answer = upload_file(owner, campaign, text)

    assert answer.status_code in (400, 422)
    assert "<title>Error: " in answer.text
    assert re.search(f'id="file-error">[^<]*({message})', html.unescape(answer.text))
    assert 'aria-invalid="true"' in answer.text
    assert f'value="{campaign.programs[-1]}" selected' in answer.text
    assert campaign.rows("select count(*) from import_job") == [(0,)]


def test_missing_or_broken_file_imports_nothing(campaign, owner):
    missing = owner.send(NEW, {"program": str(campaign.programs[-1])})
    broken = owner.send(NEW, {"program": str(campaign.programs[-1]), "packed": "no base64", "do": "import"})
    bomb = owner.send(NEW, {"program": str(campaign.programs[-1]), "packed": _bomb(), "do": "import"})

    assert [answer.status_code for answer in (missing, broken, bomb)] == [422] * 3
    assert "Choose a file." in missing.text
    assert "The file is larger than 2 MiB." in bomb.text


def _bomb():
    return base64.b64encode(zlib.compress(b"0" * 100_000_000, 9)).decode()


def test_another_brands_program_is_refused_at_its_field(campaign, owner, rival):
    rival.program()

    answer = upload_file(owner, campaign, _GOOD, program=str(rival.programs[-1]))

    assert answer.status_code == 404
    assert 'id="program-error"' in answer.text


def test_refused_import_keeps_its_file(campaign, owner):
    fields = _preview_fields(upload_file(owner, campaign, _WRONG))
    del fields["skip"]

    answer = owner.send(NEW, fields | {"do": "import", "then": "payable"})

    assert answer.status_code == 400
    assert "Try again" in _buttons(answer)
    assert (_preview_fields(answer)["packed"], _preview_fields(answer)["then"]) == (fields["packed"], "payable")
    assert campaign.rows("select count(*) from import_job") == [(0,)]


def test_import_list_shows_imports_or_the_next_step(campaign, owner):
    assert "No imports yet" in owner.open("/dashboard/imports").text
    import_job = import_people(campaign, build_person_row("ann")).json

    html = owner.open("/dashboard/imports").text

    assert 'aria-label="Imports"' in html
    assert f'href="/dashboard/imports/{import_job["jobId"]}"' in html
    assert '<span class="chip ok">Done</span>' in html
    assert import_job["jobId"] in owner.open("/dashboard/imports?kind=Affiliates&status=").text
    filtered = owner.open("/dashboard/imports?kind=Conversions").text
    assert "No imports match this filter" in filtered
    assert import_job["jobId"] not in filtered


def test_undo_page_lists_rows_to_remove_and_undo_removes_them(campaign, owner):
    import_job = import_sales(
        campaign, build_past_sale(), build_past_sale(paid=True, externalId="2"), confirmUnpaidPayout=True
    ).json
    address = f"/dashboard/imports/{import_job['jobId']}"

    page = owner.open(f"{address}/undo")

    assert "2 conversions will be removed." in page.text
    assert "20.00 USD" in page.text
    key = re.search(r'action="[^"]*/undo"><input type="hidden" name="_key" value="([^"]*)"', page.text)[1]
    redirect = owner.send(f"{address}/undo", {"_key": key})
    assert (redirect.status_code, redirect.headers["Location"]) == (303, address)
    assert ">Undone<" in owner.open(address).text
    assert "Undo import</button>" not in owner.open(f"{address}/undo").text
    assert campaign.rows("select count(*) from conversion") == [(0,)]


def test_import_in_use_is_not_undone_and_shows_the_counts(campaign, owner):
    import_job = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True).json
    address = f"/dashboard/imports/{import_job['jobId']}/undo"
    key = re.search(r'/undo"><input type="hidden" name="_key" value="([^"]*)"', owner.open(address).text)[1]
    campaign.rows("update conversion set refunded_cents = 1 returning id")

    refused = owner.send(address, {"_key": key})

    assert refused.status_code == 409
    assert 'role="alert"' in refused.text
    assert re.search(r"Refunded</dt><dd>1<", refused.text)
    assert "Undo import</button>" not in refused.text


def test_member_without_permission_sees_imports_without_the_form(campaign, visitor, links):
    import_job = import_people(campaign, build_person_row("ann")).json
    visitor.open(links("owner", "--org", campaign.id, "--role", "Viewer", "--email", "vera@x.test"))

    assert "New import" not in visitor.open("/dashboard/imports").text
    assert ">Undo<" not in visitor.open(f"/dashboard/imports/{import_job['jobId']}").text
    assert visitor.open(NEW).status_code == 403
    assert visitor.open(f"/dashboard/imports/{import_job['jobId']}/undo").status_code == 403


def test_live_part_of_an_import_changes_on_undo(campaign, owner):
    import_job = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True).json
    page = owner.open(f"/dashboard/imports/{import_job['jobId']}").text
    part = html.unescape(re.search(r'hx-get="([^"]*)"', page)[1])

    before_undo = owner.open(part)
    campaign.person("Admin").post(f"/api/imports/{import_job['jobId']}/undo")
    after_undo = owner.open(part)

    assert (before_undo.status_code, after_undo.status_code) == (204, 200)
    assert ">Undone<" in after_undo.text


def test_packing_costs_little_more_than_the_quickest_compression():
    # On two letters in random order the most thorough level takes thirty times as long.
    text = "".join(random.Random(1).choices("ab", k=500_000))

    assert _processor_time(lambda: new_import.pack(text)) < 15 * _processor_time(
        lambda: zlib.compress(text.encode(), 1)
    )


def _processor_time(act):
    """Return the least processor time of three runs."""
    costs = []
    for _ in range(3):
        began = time.thread_time()
        act()
        costs.append(time.thread_time() - began)
    return min(costs)


def test_warnings_are_shown_before_and_after_an_import_of_affiliates(campaign, owner):
    text = "sep=;\r\nemail;fullName;slug;status;;\r\nann@x.test;Ann;jane_doe;actve;;\r\nbea@x.test;Bea;ben;;;\r\n"

    preview = upload_file(owner, campaign, text)
    redirect = owner.send(NEW, _preview_fields(preview))
    import_page = owner.open(redirect.headers["Location"])

    for page in (preview, import_page):
        page_text = html.unescape(page.text)
        assert "<b>row 3</b> The status actve is unknown. The affiliate is Pending." in page_text
        assert (
            "jane_doe cannot be a main slug here. The new one is jane-doe; jane_doe still works as an alias."
            in page_text
        )
        assert "<b>row 4</b> The slug ben belongs to another affiliate" in page_text
        assert "The new slug is ben-2." in page_text
    assert "Separated by semicolons." in preview.text


def test_equal_rows_and_the_source_are_shown(campaign, owner):
    text = f"{_HEADER}\nben,10000,2000,USD,2024-01-31\nben,10000,2000,USD,2024-01-31\n".replace(",", "\t")

    preview = upload_file(owner, campaign, text, source=" Rewardful ")
    redirect = owner.send(NEW, _preview_fields(preview))
    import_page = owner.open(redirect.headers["Location"])

    assert "Import 2 rows" in _buttons(preview)
    assert "<b>row 3</b> It is equal to row 2." in preview.text
    assert "<b>row 3</b> It is equal to row 2." in import_page.text
    assert "rewardful" in import_page.text
    assert "Separated by tabs." in preview.text
    assert campaign.rows("select distinct attribution_method from conversion") == [("historical_import:rewardful",)]


def test_malformed_source_is_refused_at_its_field(campaign, owner):
    answer = upload_file(owner, campaign, _GOOD, source="my service")

    assert answer.status_code == 400
    assert "1 to 40 of a-z, 0-9 and hyphen" in answer.text


def test_preview_over_the_limit_keeps_its_file(app, campaign, owner, monkeypatch):
    limiter = app.extensions["limiter"]
    with monkeypatch.context() as limited:
        limited.setattr(limiter, "allows", lambda bucket, caller: bucket != "import")
        refused = upload_file(owner, campaign, _GOOD)
    preview = owner.send(NEW, _preview_fields(refused))

    assert (refused.status_code, "Try again" in _buttons(refused)) == (429, True)
    assert "2 new" in preview.text
    assert campaign.rows("select count(*) from import_job") == [(0,)]
