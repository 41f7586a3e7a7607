"""Imports at the dashboard. Source: the pages' interface, "New import" and "Import"."""

import base64
import html
import random
import re
import time
import zlib

import pytest

from pages.brand.imports import new_import
from tests.support.api.import_requests import build_past_sale, build_person_row, import_people, import_sales

NEW = "/dashboard/imports/new"
_HEADER = "affiliateSlug,amountCents,commissionCents,currency,occurredAt"
_GOOD = f"{_HEADER}\nben,10000,2000,USD,2024-01-31\nben,4900,980,EUR,2024-02-01\n"
_WRONG = f"{_GOOD}ben,4900,980,EURO,2024-02-01\nnobody,4900,980,EUR,2024-02-01\n"


@pytest.fixture
def campaign(brand):
    brand.program()
    brand.affiliate("ben")
    return brand


@pytest.fixture
def owner(campaign, visitor, links):
    visitor.open(links("owner"))
    return visitor


def _choose(visitor, brand, text, **fields):
    raw = text if isinstance(text, bytes) else text.encode()
    return visitor.upload(NEW, {"program": str(brand.programs[-1])} | fields, raw, "past.csv")


def _preview_fields(answer):
    """Return the fields of the form below a look."""
    form = next(form for form in re.findall("<form.*?</form>", answer.text, re.DOTALL) if 'name="packed"' in form)
    found = {}
    for tag in re.findall("<input[^>]*>", form):
        said = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if said["type"] == "hidden" or " checked" in tag:
            found[said["name"]] = html.unescape(said["value"])
    return found


def _buttons(answer):
    return re.findall(r"<button class=\"button (?:primary)?\">([^<]*)</button>", answer.text)


def test_file_is_previewed_and_imported_as_history(campaign, owner):
    import_sales(campaign, build_past_sale(occurredAt="2024-01-31"))

    look = _choose(owner, campaign, _GOOD)

    assert look.status_code == 200
    assert [words in look.text for words in ("1 new", "1 known", "0 wrong")] == [True] * 3
    assert "Import 1 row" in _buttons(look)
    assert campaign.rows("select count(*) from import_job") == [(1,)]
    assert _preview_fields(look)["then"] == "history"

    led = owner.send(NEW, _preview_fields(look))

    assert led.status_code == 303
    shown = owner.open(led.headers["Location"])
    assert [words in shown.text for words in (">Done<", ">Undo<", "Import of conversions")] == [True] * 3
    assert campaign.rows("select status, payout_locked from conversion where currency = 'EUR'") == [("Pending", True)]


def test_unpaid_sales_become_payable_on_request(campaign, owner):
    look = _choose(owner, campaign, _GOOD)
    assert "9.80 EUR + 20.00 USD" in look.text

    owner.send(NEW, _preview_fields(look) | {"then": "payable"})

    assert campaign.rows("select distinct status, payout_locked from conversion") == [("Approved", False)]


def test_repeated_submission_creates_one_import(campaign, owner):
    fields = _preview_fields(_choose(owner, campaign, _GOOD))

    first, second = owner.send(NEW, fields), owner.send(NEW, fields)

    assert first.headers["Location"] == second.headers["Location"]
    assert campaign.rows("select count(*) from import_job") == [(1,)]


def test_invalid_rows_are_listed_by_line_and_skipped(campaign, owner):
    look = _choose(owner, campaign, _WRONG)

    assert "2 wrong" in look.text
    assert re.findall(r"<b>(row \d+)</b> ([^<]*)<", look.text) == [
        ("row 4", "Its currency is not supported."),
        ("row 5", "The program has no such affiliate."),
    ]
    assert "Leave the 2 out" in _buttons(look)
    assert not [words for words in _buttons(look) if words.startswith("Import")]

    without = owner.send(NEW, _preview_fields(look) | {"then": "payable"})

    assert [words in without.text for words in ("2 new", "0 wrong", "2 left out")] == [True] * 3
    assert "Import 2 rows" in _buttons(without)
    assert _preview_fields(without)["then"] == "payable"
    assert campaign.rows("select count(*) from import_job") == [(0,)]

    shown = owner.open(owner.send(NEW, _preview_fields(without)).headers["Location"])

    assert campaign.rows("select imported, skipped, errored from import_job") == [(2, 1, 1)]
    assert "Its currency is not supported." in shown.text


def test_affiliates_are_imported_by_the_same_form(campaign, owner):
    look = _choose(owner, campaign, "\ufeffemail;fullName\nann@x.test;Ann Ek\nno address;\n")

    assert [words in look.text for words in ("Read as affiliates.", "semicolons", "byte order mark")] == [True] * 3
    assert "History only" not in look.text
    without = owner.send(NEW, _preview_fields(look))
    shown = owner.open(owner.send(NEW, _preview_fields(without)).headers["Location"])

    assert "Import of affiliates" in shown.text
    assert campaign.rows("select full_name from affiliate where email = 'ann@x.test'") == [("Ann Ek",)]


def test_amounts_in_major_units_are_labelled(campaign, owner):
    text = "affiliateSlug,amount,commission,currency,occurredAt\nben,49.00,9.80,EUR,2024-02-01\n"

    look = _choose(owner, campaign, text)

    assert "Amounts are in major units." in look.text
    assert "9.80 EUR" in look.text


def test_file_of_known_rows_has_nothing_to_import(campaign, owner):
    owner.send(NEW, _preview_fields(_choose(owner, campaign, _GOOD)))

    look = _choose(owner, campaign, _GOOD)

    assert ("2 known" in look.text, "There is nothing new to import." in look.text) == (True, True)
    assert not [words for words in _buttons(look) if words.startswith(("Import", "Leave"))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "Its first line must name the columns."),
        (b"what,ever\n1,2\n", "Unknown column:"),
        (f"{_HEADER}\n".encode(), "The file has a header and no rows."),
        (_GOOD.encode("utf-16"), "It is no text in UTF-8."),
        (b"email\n\x00@x.test\n", "A NUL character is not allowed."),
        (f"{_HEADER}\n{'ben,1,1,USD,2024-01-31' * 100_000}".encode(), "It is larger than 2 MiB."),
        (_HEADER.encode() + b"\nben,1,1,USD,2024-01-31" * 1_001, "One import can have at most 1000 rows"),
    ],
)
def test_unreadable_file_shows_an_error_at_its_field(campaign, owner, text, said):
    answer = _choose(owner, campaign, text)

    assert answer.status_code in (400, 422)
    assert "<title>Error: " in answer.text
    assert re.search(f'id="file-error">[^<]*({said})', html.unescape(answer.text))
    assert 'aria-invalid="true"' in answer.text
    assert f'value="{campaign.programs[-1]}" selected' in answer.text
    assert campaign.rows("select count(*) from import_job") == [(0,)]


def test_missing_or_broken_file_imports_nothing(campaign, owner):
    none = owner.send(NEW, {"program": str(campaign.programs[-1])})
    broken = owner.send(NEW, {"program": str(campaign.programs[-1]), "packed": "no base64", "do": "import"})
    bomb = owner.send(NEW, {"program": str(campaign.programs[-1]), "packed": _bomb(), "do": "import"})

    assert [answer.status_code for answer in (none, broken, bomb)] == [422] * 3
    assert "Choose a file." in none.text
    assert "It is larger than 2 MiB." in bomb.text


def _bomb():
    return base64.b64encode(zlib.compress(b"0" * 100_000_000, 9)).decode()


def test_another_brands_program_is_refused_at_its_field(campaign, owner, rival):
    rival.program()

    answer = _choose(owner, campaign, _GOOD, program=str(rival.programs[-1]))

    assert answer.status_code == 404
    assert 'id="program-error"' in answer.text


def test_import_that_cannot_run_now_keeps_its_file(campaign, owner):
    fields = _preview_fields(_choose(owner, campaign, _WRONG))
    del fields["skip"]

    answer = owner.send(NEW, fields | {"do": "import", "then": "payable"})

    assert answer.status_code == 400
    assert "Try again" in _buttons(answer)
    assert (_preview_fields(answer)["packed"], _preview_fields(answer)["then"]) == (fields["packed"], "payable")
    assert campaign.rows("select count(*) from import_job") == [(0,)]


def test_import_list_shows_imports_or_the_next_step(campaign, owner):
    assert "No imports yet" in owner.open("/dashboard/imports").text
    made = import_people(campaign, build_person_row("ann")).json

    html = owner.open("/dashboard/imports").text

    assert 'aria-label="Imports"' in html
    assert f'href="/dashboard/imports/{made["jobId"]}"' in html
    assert '<span class="chip ok">Done</span>' in html
    assert made["jobId"] in owner.open("/dashboard/imports?kind=Affiliates&status=").text
    none = owner.open("/dashboard/imports?kind=Conversions").text
    assert "Nothing with this filter" in none
    assert made["jobId"] not in none


def test_undo_lists_what_it_removes_and_removes_it(campaign, owner):
    made = import_sales(
        campaign, build_past_sale(), build_past_sale(paid=True, externalId="2"), confirmUnpaidPayout=True
    ).json
    address = f"/dashboard/imports/{made['jobId']}"

    page = owner.open(f"{address}/undo")

    assert "It takes back 2 conversions." in page.text
    assert "20.00 USD" in page.text
    key = re.search(r'action="[^"]*/undo"><input type="hidden" name="_key" value="([^"]*)"', page.text)[1]
    led = owner.send(f"{address}/undo", {"_key": key})
    assert (led.status_code, led.headers["Location"]) == (303, address)
    assert ">Undone<" in owner.open(address).text
    assert "Undo import</button>" not in owner.open(f"{address}/undo").text
    assert campaign.rows("select count(*) from conversion") == [(0,)]


def test_import_in_use_is_not_undone_and_shows_the_counts(campaign, owner):
    made = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True).json
    address = f"/dashboard/imports/{made['jobId']}/undo"
    key = re.search(r'/undo"><input type="hidden" name="_key" value="([^"]*)"', owner.open(address).text)[1]
    campaign.rows("update conversion set refunded_cents = 1 returning id")

    refused = owner.send(address, {"_key": key})

    assert refused.status_code == 409
    assert 'role="alert"' in refused.text
    assert re.search(r"Refunded</dt><dd>1<", refused.text)
    assert "Undo import</button>" not in refused.text


def test_member_without_permission_sees_imports_without_the_form(campaign, visitor, links):
    made = import_people(campaign, build_person_row("ann")).json
    visitor.open(links("owner", "--org", campaign.id, "--role", "Viewer", "--email", "vera@x.test"))

    assert "New import" not in visitor.open("/dashboard/imports").text
    assert ">Undo<" not in visitor.open(f"/dashboard/imports/{made['jobId']}").text
    assert visitor.open(NEW).status_code == 403
    assert visitor.open(f"/dashboard/imports/{made['jobId']}/undo").status_code == 403


def test_live_part_of_an_import_changes_on_undo(campaign, owner):
    made = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True).json
    shown = owner.open(f"/dashboard/imports/{made['jobId']}").text
    part = html.unescape(re.search(r'hx-get="([^"]*)"', shown)[1])

    same = owner.open(part)
    campaign.person("Admin").post(f"/api/imports/{made['jobId']}/undo")
    other = owner.open(part)

    assert (same.status_code, other.status_code) == (204, 200)
    assert ">Undone<" in other.text


def test_packing_costs_little_more_than_the_quickest_compression():
    # Two letters in random order are what the most thorough level takes thirty times as long for.
    text = "".join(random.Random(1).choices("ab", k=500_000))

    assert _cost(lambda: new_import.pack(text)) < 15 * _cost(lambda: zlib.compress(text.encode(), 1))


def _cost(act):
    """Return the least processor time of three tries."""
    costs = []
    for _ in range(3):
        began = time.thread_time()
        act()
        costs.append(time.thread_time() - began)
    return min(costs)


def test_warnings_are_shown_before_and_after_an_import_of_affiliates(campaign, owner):
    text = "sep=;\r\nemail;fullName;slug;status;;\r\nann@x.test;Ann;jane_doe;actve;;\r\nbea@x.test;Bea;ben;;;\r\n"

    look = _choose(owner, campaign, text)
    led = owner.send(NEW, _preview_fields(look))
    shown = owner.open(led.headers["Location"])

    for page in (look, shown):
        said = html.unescape(page.text)
        assert "<b>row 3</b> The status actve is unknown. The affiliate is Pending." in said
        assert "jane_doe cannot be a main slug here. The new one is jane-doe; jane_doe still works as an alias." in said
        assert "<b>row 4</b> The slug ben belongs to another affiliate" in said
        assert "The new slug is ben-2." in said
    assert "Cells are divided by semicolons." in look.text


def test_equal_rows_and_the_source_are_shown(campaign, owner):
    text = f"{_HEADER}\nben,10000,2000,USD,2024-01-31\nben,10000,2000,USD,2024-01-31\n".replace(",", "\t")

    look = _choose(owner, campaign, text, source=" Rewardful ")
    led = owner.send(NEW, _preview_fields(look))
    shown = owner.open(led.headers["Location"])

    assert "Import 2 rows" in _buttons(look)
    assert "<b>row 3</b> It is equal to row 2." in look.text
    assert "<b>row 3</b> It is equal to row 2." in shown.text
    assert "rewardful" in shown.text
    assert "Cells are divided by tabs." in look.text
    assert campaign.rows("select distinct attribution_method from conversion") == [("historical_import:rewardful",)]


def test_malformed_source_is_refused_at_its_field(campaign, owner):
    look = _choose(owner, campaign, _GOOD, source="my service")

    assert look.status_code == 400
    assert "1 to 40 of a-z, 0-9 and hyphen" in look.text
