"""Cells that spreadsheets leave alone."""

import pytest

from domain import csv_cells

_WIDE = ["\uff1d1+1", "\uff0b49 30", "\uff0d5", "\uff20SUM(A1)"]


@pytest.mark.parametrize("text", ["=1+1", "+49 30", "-5", "@SUM(A1)", "\tx", "\rx", "\nx", "=", "-", "\n", *_WIDE])
def test_what_looks_like_a_formula_gets_an_apostrophe(text):
    assert csv_cells.safe(text) == "'" + text


@pytest.mark.parametrize("before", [" ", "   ", "\n", " \t", "\u00a0", "\u3000", "\ufeff", "\u200b", "\x0b", "\x1f"])
@pytest.mark.parametrize("formula", ["=1", "\uff1d1"])
def test_what_is_stripped_before_a_formula_does_not_hide_it(before, formula):
    assert csv_cells.safe(before + formula) == "'" + before + formula


@pytest.mark.parametrize("text", ["", "plain", "a=b", " a =1", "5", " 5", "'=1", "日本", "日\uff1d1", " ", "a\n=1"])
def test_everything_else_is_left_alone(text):
    assert csv_cells.safe(text) == text
