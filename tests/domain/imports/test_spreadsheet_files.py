"""Files exported by spreadsheets and databases: separator lines, tabs, empty columns, times in UTC."""

from datetime import UTC, datetime

import pytest

from domain.imports import files, rows
from domain.imports.rows import BadRow

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _affiliate_rows(text):
    return [(row.line, row.values) for row in files.parse_affiliates(text).rows]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("line", ["sep={}", '"sep={}"', "SEP={}", "sep={0}{0}{0}"])
def test_separator_line_above_the_header_is_read(separator, line, end):
    text = end.join([line.format(separator), f"email{separator}fullName", f"a@x.test{separator}Ann", ""])

    parsed = files.parse_affiliates(f"\ufeff{text}")

    assert (parsed.form.separator, parsed.form.has_separator_line) == (separator, True)
    assert files.detect_kind(text) == "Affiliates"
    assert _affiliate_rows(text) == [(3, {"email": "a@x.test", "fullName": "Ann"})]


def test_separator_line_overrides_the_detected_separator():
    form = files.parse_affiliates("sep=;\nemail\na@x.test\n").form

    assert (form.separator, form.columns) == (";", ("email",))


def test_tab_is_a_separator():
    parsed = files.parse_sales("affiliateSlug\tamount\tcurrency\nben\t49,50\tEUR\n")

    assert parsed.form.separator == "\t"
    assert [row.values for row in parsed.rows] == [{"affiliateSlug": "ben", "amountCents": 4_950, "currency": "EUR"}]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("email,fullName,,", "a@x.test,Ann,,"),
        ("email,fullName,,", "a@x.test,Ann"),
        ("email,fullName", "a@x.test,Ann,,, "),
        ('email,fullName,"",""', 'a@x.test,Ann,"",""'),
        ("email;fullName;;", "a@x.test;Ann;;"),
        ("email\tfullName\t\t", "a@x.test\tAnn\t\t"),
        (f"email,fullName{',' * 300}", f"a@x.test,Ann{',' * 300}"),
    ],
)
def test_trailing_empty_columns_are_ignored(header, row):
    assert _affiliate_rows(f"{header}\r\n{row}\r\n") == [(2, {"email": "a@x.test", "fullName": "Ann"})]
    assert files.parse_affiliates(f"{header}\r\n{row}\r\n").form.columns == ("email", "fullName")


@pytest.mark.parametrize("row", ["a@x.test,Ann,,more", "a@x.test"])
def test_extra_or_missing_cell_rejects_the_row(row):
    ((_, values),) = _affiliate_rows(f"email,fullName,,\n{row}\n")

    assert isinstance(values, BadRow)
    assert values.code == "wrong_cell_count"


@pytest.mark.parametrize(
    "text", ["email,,fullName\n", "\temail\n", ",,\n", "sep=;\n\nemail\n", "sep=;\n", "sep=|\nemail\n"]
)
def test_unnamed_column_before_named_ones_is_refused(text):
    with pytest.raises(files.UnreadableFile):
        files.parse_affiliates(text)


@pytest.mark.parametrize(
    "text",
    [
        "2025-12-31T14:00:00Z",
        "2025-12-31T14:00:00z",
        "2025-12-31 14:00:00Z",
        "2025-12-31 14:00:00 Z",
        "2025-12-31 14:00:00 UTC",
        "2025-12-31 14:00:00 utc",
        "2025-12-31 14:00:00 GMT",
        "2025-12-31 14:00:00",
        " 2025-12-31 14:00:00 UTC ",
        "2025-12-31 14:00:00.000000 UTC",
        "2025-12-31 15:00:00 +0100",
        "2025-12-31 15:00:00 +01:00",
        "2025-12-31 15:00:00+01",
    ],
)
def test_time_in_utc_or_with_an_offset_is_parsed(text):
    row = {"affiliateSlug": "ben", "amountCents": 1, "commissionCents": 1, "currency": "EUR", "occurredAt": text}

    assert rows.parse(row, now=NOW).occurred_at == datetime(2025, 12, 31, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["2025-12-31 14:00:00 CET", "2025-12-31 14:00:00 UTC UTC", "UTC", "Z", "yesterday", f"2025-12-31{' ' * 99_999}Z"],
)
def test_time_in_another_form_is_refused(text):
    row = {"affiliateSlug": "ben", "amountCents": 1, "commissionCents": 1, "currency": "EUR", "occurredAt": text}

    with pytest.raises(BadRow, match="invalid_occurred_at"):
        rows.parse(row, now=NOW)
