"""An operator at the console's pages."""

import re

import pytest


@pytest.fixture
def operator(visitor, links):
    """A browser in which an operator signed in."""
    visitor.open(links("operator"))
    return visitor


@pytest.fixture
def words():
    """What takes a page's words out of it: one text with single spaces."""

    def said(answer):
        return " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())

    return said
