"""An operator at the console's pages."""

import re

import pytest


@pytest.fixture
def operator(visitor, links):
    """A browser in which an operator is signed in."""
    visitor.open(links("operator"))
    return visitor


@pytest.fixture
def page_text():
    """Return a function that returns the visible text of a page with single spaces."""

    def extract_text(answer):
        return " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())

    return extract_text
