"""Cells that spreadsheets leave alone."""

import pytest

from domain import csv_cells


@pytest.mark.parametrize("text", ["=1+1", "+49 30", "-5", "@SUM(A1)", "\tx", "\rx", "=", "-"])
def test_what_looks_like_a_formula_gets_an_apostrophe(text):
    assert csv_cells.safe(text) == "'" + text


@pytest.mark.parametrize("text", ["", "plain", "a=b", " =1", "5", "'=1", "日本", "\n="])
def test_everything_else_is_left_alone(text):
    assert csv_cells.safe(text) == text
