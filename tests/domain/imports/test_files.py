"""Files of imports: separators, byte order marks, amounts in major units, and rows by their lines."""

import pytest

from domain.imports import files
from domain.imports.rows import BadRow
from domain.imports.verdicts import to_sentence

_SALES = "affiliateSlug,amountCents,commissionCents,currency,occurredAt"


def _values(text):
    return [
        row.values.code if isinstance(row.values, BadRow) else dict(row.values) for row in files.parse_sales(text).rows
    ]


def test_a_row_says_what_its_json_twin_would():
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


def test_empty_cells_are_left_out_and_names_of_columns_in_any_case():
    assert _values("AFFILIATEslug, amountcents ,paid\nben,,\n") == [{"affiliateSlug": "ben"}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_row_is_known_by_the_line_where_it_begins(end):
    text = end.join(["email,fullName", "a@x.test,Ann", "", 'b@x.test,"Bea', 'Ek"', " , ", "c@x.test,Cy"])

    found = files.parse_affiliates(text)

    assert [row.line for row in found.rows] == [2, 4, 7]
    assert found.rows[1].values == {"email": "b@x.test", "fullName": f"Bea{end}Ek"}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("email,slug\na@x.test,ann", (",", None, False, ("email", "slug"))),
        ("\ufeffemail;slug\na@x.test;ann", (";", None, True, ("email", "slug"))),
        ('"email"\na@x.test', (",", None, False, ("email",))),
    ],
)
def test_a_file_says_how_it_was_understood(text, form):
    found = files.parse_affiliates(text).form

    assert (found.separator, found.amounts, found.has_byte_order_mark, found.columns) == form


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
def test_an_amount_in_major_units_is_taken_exactly(separator, amount, currency, minor):
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
def test_an_amount_that_has_no_whole_minor_units_makes_its_row_wrong_alone(amount, currency, code):
    assert _values(f"amount,currency\n{amount},{currency}\n5,USD\n") == [code, {"amountCents": 500, "currency": "USD"}]


def test_a_row_with_other_cells_than_the_header_is_wrong_alone():
    assert _values("affiliateSlug,currency\nben\nben,EUR,more\nben,EUR\n") == [
        "wrong_cell_count",
        "wrong_cell_count",
        {"affiliateSlug": "ben", "currency": "EUR"},
    ]


@pytest.mark.parametrize(
    ("text", "words"),
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
def test_what_cannot_be_read_says_why(text, words):
    with pytest.raises(files.UnreadableFile, match=words):
        files.parse_sales(text)


def test_what_a_file_holds_is_told_by_its_header():
    assert files.detect_kind("email;slug\n") == files.detect_kind("Slug,EMAIL") == "Affiliates"
    assert files.detect_kind("affiliateEmail,amount\n") == "Conversions"


def test_a_code_has_a_sentence():
    assert to_sentence("unsupported_currency") == "Its currency is not supported."
    assert to_sentence("invalid_customer_email") == "Its customer email is too long or not a text."
