"""Import files: separators, byte order marks, amounts in major units, and line numbers of rows."""

import pytest

from domain.imports import files
from domain.imports.rows import BadRow
from domain.imports.verdicts import to_sentence

_SALES = "affiliateSlug,amountCents,commissionCents,currency,occurredAt"


def _values(text):
    return [
        row.values.code if isinstance(row.values, BadRow) else dict(row.values) for row in files.parse_sales(text).rows
    ]


def test_csv_row_equals_the_json_row():
    text = f'{_SALES},paid,type,customerName\nben,4900,980,EUR,2024-01-31,TRUE,Recurring,"Zoë, née 李"\n'

    assert _values(text) == [
        {
            "affiliateSlug": "ben",
            "amountCents": 4900,
            "commissionCents": 980,
            "currency": "EUR",
            "occurredAt": "2024-01-31",
            "paid": True,
            "type": "Recurring",
            "customerName": "Zoë, née 李",
        }
    ]


def test_empty_cells_are_omitted_and_column_names_match_in_any_case():
    assert _values("AFFILIATEslug, amountcents ,paid\nben,,\n") == [{"affiliateSlug": "ben"}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_row_has_the_number_of_its_first_line(end):
    text = end.join(["email,fullName", "a@x.test,Ann", "", 'b@x.test,"Bea', 'Ek"', " , ", "c@x.test,Cy"])

    parsed = files.parse_affiliates(text)

    assert [row.line for row in parsed.rows] == [2, 4, 7]
    assert parsed.rows[1].values == {"email": "b@x.test", "fullName": f"Bea{end}Ek"}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("email,slug\na@x.test,ann", (",", None, False, ("email", "slug"))),
        ("\ufeffemail;slug\na@x.test;ann", (";", None, True, ("email", "slug"))),
        ('"email"\na@x.test', (",", None, False, ("email",))),
    ],
)
def test_detected_form_of_the_file_is_returned(text, form):
    parsed_form = files.parse_affiliates(text).form

    assert (parsed_form.separator, parsed_form.amounts, parsed_form.has_byte_order_mark, parsed_form.columns) == form


@pytest.mark.parametrize(
    ("separator", "amount", "currency", "minor"),
    [
        (",", "49.00", "EUR", 4_900),
        (",", "49", "EUR", 4_900),
        (",", "0.1", "usd", 10),
        (",", "1200", "JPY", 1_200),
        (",", "1.234", "KWD", 1_234),
        (";", "49,5", "EUR", 4_950),
        (";", "49.5", "EUR", 4_950),
        (",", "9999999999999.99", "USD", 999_999_999_999_999),
    ],
)
def test_amount_in_major_units_is_converted_exactly(separator, amount, currency, minor):
    text = f"amount{separator}commission{separator}currency\n{amount}{separator}0{separator}{currency}"

    assert [values["amountCents"] for values in _values(text)] == [minor]
    assert files.parse_sales(text).form.amounts == "amount"
    assert files.parse_sales(_SALES + "\n").form.amounts == "amountCents"


@pytest.mark.parametrize(
    ("amount", "currency", "code"),
    [
        ("49.005", "EUR", "invalid_amount"),
        ("1200.5", "JPY", "invalid_amount"),
        ('"1,234"', "EUR", "invalid_amount"),
        ("-5", "EUR", "invalid_amount"),
        ("1e3", "EUR", "invalid_amount"),
        ("NaN", "EUR", "invalid_amount"),
        ("٣", "EUR", "invalid_amount"),
        ("5 €", "EUR", "invalid_amount"),
        ("5", "EURO", "unsupported_currency"),
        ("5", "", "unsupported_currency"),
    ],
)
def test_invalid_amount_rejects_only_its_row(amount, currency, code):
    assert _values(f"amount,currency\n{amount},{currency}\n5,USD\n") == [code, {"amountCents": 500, "currency": "USD"}]


def test_wrong_cell_count_rejects_only_its_row():
    assert _values("affiliateSlug,currency\nben\nben,EUR,more\nben,EUR\n") == [
        "wrong_cell_count",
        "wrong_cell_count",
        {"affiliateSlug": "ben", "currency": "EUR"},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "first line"),
        ("\n\nemail\n", "first line"),
        ("\ufeff", "first line"),
        ("affiliateSlug,amount,amountCents\n", "both amount and amountCents"),
        ("affiliateSlug,commission,commissionCents\n", "both commission and commissionCents"),
        ("affiliateSlug,AffiliateSlug\n", "twice"),
        ("affiliateSlug,paid?\n", "'paid\\?'"),
        ("affiliateSlug,,currency\n", "''"),
        ('affiliateSlug,currency\nben,"EUR\n', "Row 2"),
        ('affiliateSlug,currency\nben,EUR\nben,"E"UR\n', "Row 3"),
        ("PK\x03\x04binary", "Unknown column"),
    ],
)
def test_unreadable_file_is_refused_with_the_reason(text, message):
    with pytest.raises(files.UnreadableFile, match=message):
        files.parse_sales(text)


def test_file_kind_is_detected_from_the_header():
    assert files.detect_kind("email;slug\n") == files.detect_kind("Slug,EMAIL") == "Affiliates"
    assert files.detect_kind("affiliateEmail,amount\n") == "Conversions"


def test_codes_are_explained_in_sentences():
    assert to_sentence("unsupported_currency") == "Its currency is not supported."
    assert to_sentence("invalid_customer_email") == "Its customer email is too long or not a text."
