"""CSV cells that spreadsheets do not run as formulas."""

import re
from pathlib import Path

import pytest

import api
from domain.text import csv_cells

_WIDE = ["\uff1d1+1", "\uff0b49 30", "\uff0d5", "\uff20SUM(A1)"]


@pytest.mark.parametrize("text", ["=1+1", "+49 30", "-5", "@SUM(A1)", "\tx", "\rx", "\nx", "=", "-", "\n", *_WIDE])
def test_formula_gets_an_apostrophe(text):
    assert csv_cells.escape(text) == "'" + text


@pytest.mark.parametrize("prefix", [" ", "   ", "\u00a0", "\u3000", "\ufeff", "\u200b", "\x0b", "\x1f"])
@pytest.mark.parametrize("formula", ["=1", "\uff1d1"])
def test_formula_after_stripped_characters_gets_an_apostrophe(prefix, formula):
    assert csv_cells.escape(prefix + formula) == "'" + prefix + formula


_HARMLESS = [
    "",
    "plain",
    "a=b",
    " a =1",
    "5",
    " 5",
    "'=1",
    "日本",
    "日\uff1d1",
    " ",
    "a;b",
    "a; b",
    "a;'=1",
    "x,=1",
    "a\nb",
]


@pytest.mark.parametrize("text", _HARMLESS)
def test_harmless_text_is_unchanged(text):
    assert csv_cells.escape(text) == text


@pytest.mark.parametrize("separator", [";", "\t", "\n", "\r\n", "; ", ';"', '; ""', "\uff1b", ";\u200b"])
@pytest.mark.parametrize("formula", ["=1+1", "+49 30", "-5", "@SUM(A1)", "\uff1d1"])
@pytest.mark.parametrize("first", ["a", "", "=2"])
def test_formula_after_a_separator_of_another_locale_gets_an_apostrophe(first, separator, formula):
    text = csv_cells.escape(f"{first}{separator}{formula}")

    cells = re.split("[;\uff1b\t\r\n]", text)
    assert not any(re.match('[\\s\u200b"]*[=+@\uff1d-]', cell) for cell in cells)
    assert text.replace("'", "") == f"{first}{separator}{formula}"


def test_every_csv_writing_module_escapes_its_cells():
    writers = [path for path in Path(api.__file__).parent.rglob("*.py") if 'content_type="text/csv' in path.read_text()]

    assert len(writers) >= 4
    assert [path.name for path in writers if "csv_cells.escape(" not in path.read_text()] == []
