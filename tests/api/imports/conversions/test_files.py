"""Imports of conversions from a file: detected format, outcome of each line, skipping invalid rows."""

import pytest

from tests.support.api.import_requests import URL, build_past_sale, import_sales

_FILE = """affiliateSlug,amountCents,commissionCents,currency,occurredAt,externalId
ben,10000,2000,USD,2024-01-31,1
ben,10000,2000,USD,2024-01-31,known
ben,10000,2000,EURO,2024-01-31,3

unknown,10000,2000,USD,2024-01-31,4
ben,10000,2000,USD,2024-01-31,1
"""


def _send(brand, text, url=URL, **fields):
    return brand.post(url, {"programId": str(brand.programs[-1]), "file": text} | fields)


def _post_preview(brand, text, **fields):
    return _send(brand, text, f"{URL}/preview", **fields)


def test_preview_returns_the_outcome_of_each_line(campaign):
    import_sales(campaign, build_past_sale(externalId="known"))

    answer = _post_preview(campaign, _FILE)

    assert answer.status_code == 200
    assert [(row["index"], row["line"], row["outcome"], row["reason"]) for row in answer.json["rows"]] == [
        (0, 2, "new", None),
        (1, 3, "known", "already_imported"),
        (2, 4, "wrong", "unsupported_currency"),
        (3, 6, "wrong", "affiliate_not_found"),
        (4, 7, "known", "duplicate_in_batch"),
    ]
    assert answer.json["rows"][2]["message"] == "Its currency is not supported."
    assert (answer.json["wouldImport"], answer.json["wouldSkip"], answer.json["wouldError"]) == (1, 3, 1)
    assert answer.json["understood"] == {
        "separator": ",",
        "amounts": "amountCents",
        "hasByteOrderMark": False,
        "hasSeparatorLine": False,
        "columns": ["affiliateSlug", "amountCents", "commissionCents", "currency", "occurredAt", "externalId"],
        "leftOut": 0,
    }


def test_excluded_paid_rows_are_reported_as_left_out(campaign):
    text = "affiliateSlug,amountCents,commissionCents,currency,occurredAt,paid\nben,1,1,USD,2024-01-31,yes\n"

    (row,) = _post_preview(campaign, text, excludePaid=True).json["rows"]

    assert (row["outcome"], row["reason"]) == ("leftOut", "excluded_paid")


def test_invalid_row_refuses_the_file_and_is_named_by_line(campaign):
    refused = _send(campaign, _FILE)

    assert (refused.status_code, refused.json["error"]) == (400, "invalid_rows")
    assert refused.json["rows"] == [{"index": 2, "error": "unsupported_currency", "line": 4}]
    assert campaign.rows("select count(*) from conversion") == [(0,)]


def test_skip_invalid_imports_the_valid_rows(campaign):
    answer = _send(campaign, _FILE, skipInvalid=True)

    assert answer.status_code == 200
    imported = answer.json
    assert (imported["total"], imported["imported"], imported["skipped"], imported["errored"]) == (5, 2, 2, 1)
    assert answer.json["reasons"] == {"affiliate_not_found": 1, "duplicate_in_batch": 1, "unsupported_currency": 1}
    assert campaign.rows("select count(*) from conversion") == [(2,)]


def test_skip_invalid_applies_to_json_rows(campaign):
    answer = import_sales(campaign, build_past_sale(currency="EURO"), build_past_sale(), skipInvalid=True)

    assert (answer.json["imported"], answer.json["errored"]) == (1, 1)


def test_amounts_in_major_units_are_converted_to_minor_units(campaign):
    text = "\ufeffaffiliateSlug;amount;commission;currency;occurredAt\nben;49,00;9.80;EUR;2024-01-31\n"

    preview = _post_preview(campaign, text).json
    _send(campaign, text, confirmUnpaidPayout=True)

    assert preview["understood"] | {"columns": []} == {
        "separator": ";", "amounts": "amount", "hasByteOrderMark": True, "hasSeparatorLine": False,
        "columns": [], "leftOut": 0,
    }  # fmt: skip
    assert campaign.rows("select amount_cents, commission_cents, currency from conversion") == [(4_900, 980, "EUR")]
    assert preview["unpaidBalance"] == [{"currency": "EUR", "commissionCents": 980, "count": 1}]


def test_file_rows_equal_json_rows(campaign):
    import_sales(campaign, build_past_sale(occurredAt="2024-01-31", customerEmail="a@x.test"))
    header = "affiliateSlug,amountCents,commissionCents,currency,occurredAt,customerEmail"
    text = f"{header}\nben,10000,2000,USD,2024-01-31,a@x.test\n"

    assert _post_preview(campaign, text).json["skipReasons"] == {"already_imported": 1}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"file": ""}, "file"),
        ({"file": "affiliateSlug,currency\n"}, "file"),
        ({"file": "affiliateSlug,what\nben,1\n"}, "file"),
        ({"file": "affiliateSlug\nb\x00n\n"}, "file"),
        ({"file": 7}, "file"),
        ({"file": None}, "conversions"),
        ({"file": "affiliateSlug\nben\n", "conversions": [build_past_sale()]}, "file"),
    ],
)
@pytest.mark.parametrize("path", ["", "/preview"])
def test_unreadable_file_returns_400_naming_the_field(campaign, fields, field, path):
    answer = campaign.post(f"{URL}{path}", {"programId": str(campaign.programs[-1])} | fields)

    assert (answer.status_code, list(answer.json["errors"])) == (400, [field])


def test_file_of_more_than_a_thousand_rows_is_refused(campaign):
    header = "affiliateSlug,amountCents,commissionCents,currency,occurredAt\n"
    lines = [f"ben,{number},0,USD,2024-01-31\n" for number in range(1001)]

    refused = _post_preview(campaign, header + "".join(lines))
    accepted = _post_preview(campaign, header + "".join(lines[:1000]))

    assert (refused.status_code, refused.json["error"], refused.json["field"]) == (400, "row_cap_exceeded", "file")
    assert (accepted.status_code, accepted.json["wouldImport"]) == (200, 1000)


_REFERRALS = "Who,Sum,Earned,When,State\nben,$49.00,$9.80,2024-01-31,unpaid\nben,20,4,2024-02-01,rejected\n"
_COLUMNS = {"affiliateSlug": "who", "amount": "Sum", "commission": "Earned", "occurredAt": "When", "paid": "State"}


def _post_mapped(campaign, **fields):
    body = {"programId": str(campaign.programs[-1]), "file": _REFERRALS, "columns": _COLUMNS, "currency": "USD"}
    return campaign.post(f"{URL}/preview", {**body, "words": {"Unpaid": "unpaid", "rejected": "leave_out"}, **fields})


def test_file_of_another_service_is_read_by_its_columns_and_words(campaign):
    answer = _post_mapped(campaign)

    assert answer.status_code == 200, answer.json
    assert (answer.json["wouldImport"], answer.json["understood"]["leftOut"]) == (1, 1)
    assert answer.json["understood"]["columns"] == list(_COLUMNS)
    assert answer.json["unpaidBalance"] == [{"currency": "USD", "commissionCents": 980, "count": 1}]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"columns": {"affiliateSlug": "nothing"}}, "file"),
        ({"columns": {"salary": "Who"}}, "file"),
        ({"columns": {str(number): "Who" for number in range(31)}}, "columns"),
        ({"columns": {"affiliateSlug": 7}}, "columns"),
        ({"columns": "Who"}, "columns"),
        ({"columns": None}, "words"),
        ({"words": {"unpaid": "settled"}}, "words"),
        ({"words": {str(number): "paid" for number in range(101)}}, "words"),
        ({"currency": "EURO"}, "currency"),
        ({"currency": "XXX"}, "currency"),
        ({"file": None, "conversions": [{}]}, "columns"),
    ],
)
def test_mapping_that_does_not_fit_is_refused_at_its_field(campaign, fields, field):
    answer = _post_mapped(campaign, **fields)

    assert answer.status_code == 400
    assert list(answer.json["errors"]) == [field]
    assert campaign.rows("select count(*) from import_job") == [(0,)]


def test_file_whose_rows_are_all_left_out_says_so(campaign):
    answer = _post_mapped(campaign, words={"unpaid": "leave_out", "rejected": "leave_out"})

    assert answer.json["errors"] == {"file": ["Each of its rows is left out."]}
